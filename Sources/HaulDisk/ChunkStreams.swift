// SPDX-License-Identifier: Apache-2.0

internal import HaulCore

/// The running sums of chunks whose bytes arrive in pieces and in order. The writer's alone.
///
/// At most ``mostOpen`` chunks are followed; one that is dropped, or whose pieces came out of order, is read
/// back from the file when it is complete, which costs time and nothing else.
struct ChunkStreams {
  /// Twice the greatest number of connections: each fills one chunk at a time.
  static let mostOpen = 128

  private struct Stream {
    let hash: ChunkHash
    /// The offset in the file that has to come next.
    var position: Int
    var lastUse: Int
  }

  private var open: [Int: Stream] = [:]
  private var finished: [Int: UInt64] = [:]
  private var spare: [ChunkHash] = []
  private var uses = 0
  private var epoch = 0

  /// Forgets everything when bytes that were written do not count any more.
  mutating func follow(epoch: Int) {
    guard epoch != self.epoch else { return }
    self.epoch = epoch
    spare += open.values.map(\.hash)
    open = [:]
    finished = [:]
  }

  /// Takes bytes that were just written at `offset`.
  mutating func add(_ bytes: UnsafeRawBufferPointer, at offset: Int, grid: ChunkGrid, id: ManifestID) {
    let range = ByteRange(offset, offset + bytes.count)
    for chunk in grid.indices(touching: range) {
      let whole = grid.range(of: chunk)
      guard let part = range.intersection(whole) else { continue }
      let piece = UnsafeRawBufferPointer(rebasing: bytes[part.lower - offset..<part.upper - offset])
      if part == whole {
        finished[chunk] = xxh3(piece, seed: id.seed(forChunk: chunk))
      } else if part.lower == whole.lower {
        close(chunk)
        let hash = freshHash()
        hash.start(seed: id.seed(forChunk: chunk))
        hash.add(piece)
        open[chunk] = Stream(hash: hash, position: part.upper, lastUse: uses)
      } else if let stream = open[chunk], stream.position == part.lower {
        stream.hash.add(piece)
        open[chunk] = Stream(hash: stream.hash, position: part.upper, lastUse: uses)
      } else {
        close(chunk)
      }
      uses += 1
    }
  }

  /// The hash of a chunk whose bytes have all passed in order, or nil. Forgets the chunk.
  mutating func take(_ chunk: Int, end: Int) -> UInt64? {
    if let value = finished.removeValue(forKey: chunk) { return value }
    defer { close(chunk) }
    guard let stream = open[chunk], stream.position == end else { return nil }
    return stream.hash.value
  }

  private mutating func close(_ chunk: Int) {
    if let stream = open.removeValue(forKey: chunk) { spare.append(stream.hash) }
  }

  private mutating func freshHash() -> ChunkHash {
    if open.count >= Self.mostOpen, let oldest = open.min(by: { $0.value.lastUse < $1.value.lastUse })?.key {
      close(oldest)
    }
    return spare.popLast() ?? ChunkHash()
  }
}
