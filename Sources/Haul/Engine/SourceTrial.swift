// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDigest
internal import HaulDisk

/// Compares what another source has with the sums of an unfinished file: its first, its last and one other
/// chunk.
struct SourceTrial {
  var comparison: ChunkComparison
  private let state: ResumeState
  let chunks: [Int]

  /// Nil where the file has no whole chunk to compare.
  init?(_ state: ResumeState, dice: Double) {
    chunks = SampleChunks.choose(from: state.marked, dice: dice)
    self.state = state
    guard !chunks.isEmpty else { return nil }
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
    // A validator means nothing across sources; the length is compared by the transfer itself.
    return ResumedFile(grid: grid, present: present, isSameSource: false) { _ in nil }
  }
}
