// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDigest

/// Compares bytes as they come with the sums of a few chunks; they go nowhere else.
struct ChunkComparison {
  /// What they have to be, by the chunk's index.
  private let wanted: [Int: ExpectedSum]
  private let grid: ChunkGrid
  private var running: [Int: (sum: HaulDigest.ChunkSum, position: Int)] = [:]

  init(_ wanted: [Int: ExpectedSum], grid: ChunkGrid) {
    self.wanted = wanted
    self.grid = grid
  }

  /// What has to come, in order.
  var ranges: [ByteRange] { wanted.keys.sorted().map { grid.range(of: $0) } }

  var count: Int { wanted.count }

  /// Takes bytes of one chunk, in order.
  mutating func add(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    let chunk = grid.index(at: offset)
    guard let seed = wanted[chunk]?.seed else { return }
    if offset == grid.range(of: chunk).lower { running[chunk] = (HaulDigest.ChunkSum(seed: seed), offset) }
    guard let begun = running[chunk], begun.position == offset else { return }
    begun.sum.update(bytes)
    running[chunk] = (begun.sum, offset + bytes.count)
  }

  /// Whether every chunk came whole and has its sum.
  var isEqual: Bool {
    wanted.allSatisfy { chunk, wanted in
      guard let done = running[chunk], done.position == grid.range(of: chunk).upper else { return false }
      return done.sum.value == wanted.value
    }
  }
}
