// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDigest
internal import HaulDisk

/// Compares what a source has with the sums of an unfinished file, in some of its chunks.
struct SourceTrial {
  var comparison: ChunkComparison
  let chunks: [Int]
  private let state: ResumeState
  private let change: @Sendable (Identity) -> ResourceChange?

  /// The first, the last and one other chunk. Nil where the file has no whole chunk to compare.
  init?(_ state: ResumeState, dice: Double) {
    // Those with a sum alone too: here the sum is compared with what the server has, and later with the disk.
    var known = state.marked
    for chunk in state.rescuable { known[chunk] = true }
    let chunks = SampleChunks.choose(from: known, dice: dice)
    guard !chunks.isEmpty else { return nil }
    // A validator means nothing across sources; the length is compared by the transfer itself.
    self.init(state, chunks: chunks) { _ in nil }
  }

  /// - Parameter change: compares an answer with what the server said before.
  init(_ state: ResumeState, chunks: [Int], change: @escaping @Sendable (Identity) -> ResourceChange?) {
    (self.state, self.chunks, self.change) = (state, chunks, change)
    let sums = chunks.map { chunk in
      (chunk, ExpectedSum(seed: state.header.id.seed(forChunk: chunk), value: state.storedSums[chunk]))
    }
    comparison = ChunkComparison(Dictionary(uniqueKeysWithValues: sums), grid: state.header.grid)
  }

  /// What a transfer is told: only the chosen chunks are missing.
  var file: ResumedFile {
    let grid = state.header.grid
    var present = ByteRangeSet(grid.whole)
    for chunk in chunks { present.remove(grid.range(of: chunk)) }
    return ResumedFile(grid: grid, present: present, isSameSource: false, change: change)
  }
}
