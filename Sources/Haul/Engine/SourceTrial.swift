// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDigest
internal import HaulDisk

/// Compares what a source has with the sums of an unfinished file, in some of its chunks. The bytes are summed as they come and go nowhere else.
struct SourceTrial {
  let chunks: [Int]
  private let state: ResumeState
  private let change: @Sendable (Identity) -> ResourceChange?
  private var running: [Int: (sum: HaulDigest.ChunkSum, position: Int)] = [:]

  /// Nil where the file has no whole chunk to compare.
  init?(_ state: ResumeState, dice: Double) {
    // A validator means nothing across sources; the length is compared by the transfer itself.
    self.init(state, chunks: SampleChunks.choose(from: state.marked, dice: dice)) { _ in nil }
    guard !chunks.isEmpty else { return nil }
  }

  /// - Parameter change: compares an answer with what the server said before.
  init(_ state: ResumeState, chunks: [Int], change: @escaping @Sendable (Identity) -> ResourceChange?) {
    (self.state, self.chunks, self.change) = (state, chunks, change)
  }

  /// What a transfer is told: only the chosen chunks are missing.
  var file: ResumedFile {
    let grid = state.header.grid
    var present = ByteRangeSet(grid.whole)
    for chunk in chunks { present.remove(grid.range(of: chunk)) }
    return ResumedFile(grid: grid, present: present, isSameSource: false, change: change)
  }

  /// Takes bytes of one chunk, in order.
  mutating func add(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    let grid = state.header.grid
    let chunk = grid.index(at: offset)
    if offset == grid.range(of: chunk).lower {
      running[chunk] = (HaulDigest.ChunkSum(seed: state.header.id.seed(forChunk: chunk)), offset)
    }
    guard let begun = running[chunk], begun.position == offset else { return }
    begun.sum.update(bytes)
    running[chunk] = (begun.sum, offset + bytes.count)
  }

  /// Whether every chosen chunk came whole and has its sum.
  var isEqual: Bool {
    chunks.allSatisfy { chunk in
      guard let done = running[chunk], done.position == state.header.grid.range(of: chunk).upper else {
        return false
      }
      return done.sum.value == state.storedSums[chunk]
    }
  }
}
