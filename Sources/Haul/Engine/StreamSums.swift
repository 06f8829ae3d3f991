// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDigest

/// The sums of what was streamed, a chunk of 1 MiB each: bytes that are gone can still be compared.
struct StreamSums: Sendable {
  private static let chunkSize = 1 << 20
  private var sums: [UInt64] = []

  /// The chunks that were emitted whole, which are all of this grid's.
  var grid: ChunkGrid { ChunkGrid(length: sums.count * Self.chunkSize, chunkSize: Self.chunkSize) }

  var complete: ChunkBitmap {
    var bitmap = ChunkBitmap(count: sums.count)
    for chunk in 0..<sums.count { bitmap[chunk] = true }
    return bitmap
  }

  func expected(ofChunk chunk: Int) -> ExpectedSum? {
    sums.indices.contains(chunk) ? ExpectedSum(seed: 0, value: sums[chunk]) : nil
  }

  /// Takes the next bytes. `running` is the sum of the chunk that they continue, from `position` on.
  mutating func add(_ bytes: UnsafeRawBufferPointer, at position: Int, _ running: inout HaulDigest.ChunkSum) {
    var (rest, position) = (bytes, position)
    while !rest.isEmpty {
      let room = Self.chunkSize - position % Self.chunkSize
      let piece = rest.prefix(room)
      running.update(UnsafeRawBufferPointer(rebasing: piece))
      position += piece.count
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(room))
      guard position % Self.chunkSize == 0 else { return }
      sums.append(running.value)
      running = HaulDigest.ChunkSum(seed: 0)
    }
  }
}
