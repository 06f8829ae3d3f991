// SPDX-License-Identifier: Apache-2.0

internal import HaulCore

/// One pass over a growing file from its first byte to its last. Belongs to one thread.
///
/// A part is a whole chunk or, without a grid, what has come of one piece. A part of several pieces is hashed
/// before its sum is known, so the digests are copied first and put back where the sum is wrong. To read the
/// part twice instead would be slower, and would hash bytes that are not the ones that were checked.
final class HashPass {
  /// Small enough to stay in a core's cache between the sum and the digest.
  static let pieceSize = 1 << 20
  /// How often one chunk may be found wrong: beyond that, fetching it once more heals nothing.
  static let mostFaults = 3
  /// A page, and the largest in use.
  private static let alignment = 16 * 1024

  private enum Finding {
    case good, damaged, cancelled
  }

  private let source: any PrefixSource
  private let grid: ChunkGrid?
  private var digests: [Digest]
  private let buffer: UnsafeMutableRawBufferPointer

  init(
    source: any PrefixSource, grid: ChunkGrid?, algorithms: Set<DigestAlgorithm>
  ) throws(DigestError) {
    digests = try Digest.of(algorithms)
    self.source = source
    self.grid = grid
    buffer = .allocate(byteCount: Self.pieceSize, alignment: Self.alignment)
  }

  deinit {
    buffer.deallocate()
  }

  /// - Parameter progress: told how many bytes are done, after every part.
  func run(_ progress: (Int) -> Void) throws(DigestError) -> HasherOutcome {
    var offset = 0
    var faults = 0
    while true {
      let ready: Int
      switch arrival(at: offset) {
      case .ready(let upTo):
        ready = upTo
      case .complete:
        return digests.isEmpty ? .checked : .digests(DigestSet(finishing: digests))
      case .cancelled:
        return .cancelled
      case .wrongEnd(let end):
        throw .wrongLength(expected: grid?.length ?? offset, found: end)
      }
      let part = ByteRange(offset, min(ready, border(after: offset)))
      switch try take(part) {
      case .cancelled:
        return .cancelled
      case .good:
        offset = part.upper
        faults = 0
        progress(offset)
      case .damaged:
        let chunk = grid?.index(at: offset) ?? 0
        source.distrust(chunk: chunk)
        faults += 1
        if faults == Self.mostFaults { throw .damaged(chunk: chunk) }
      }
    }
  }

  /// Where the part at `offset` ends once all of it is there.
  private func border(after offset: Int) -> Int {
    grid?.border(after: offset) ?? (offset / Self.pieceSize + 1) * Self.pieceSize
  }

  private enum Arrival {
    case ready(upTo: Int)
    case complete, cancelled
    case wrongEnd(Int)
  }

  /// Waits until the part at `offset` can be taken: with a grid the whole chunk, without one any bytes.
  ///
  /// The source is asked before every part, even where it said that more is ready, so that a cancel is
  /// noticed.
  private func arrival(at offset: Int) -> Arrival {
    let needed = grid.map { max($0.border(after: offset), offset + 1) } ?? offset + 1
    var known = offset
    while known < needed {
      switch source.next(after: known) {
      case .ready(let upTo):
        precondition(upTo > known, "a source hands out bytes that were not there before")
        known = upTo
        if let grid, known > grid.length { return .wrongEnd(known) }
      case .complete:
        return known == grid?.length ?? known ? .complete : .wrongEnd(known)
      case .cancelled:
        return .cancelled
      }
    }
    return .ready(upTo: known)
  }

  /// Reads `part` once, and keeps its bytes in the digests only if they have their sum or none is known.
  private func take(_ part: ByteRange) throws(DigestError) -> Finding {
    let expected = grid.flatMap { source.sum(ofChunk: $0.index(at: part.lower)) }
    if digests.isEmpty && expected == nil { return .good }
    let sum = expected.map { ChunkSum(seed: $0.seed) }
    var untouched: [Digest] = []
    if sum != nil { for digest in digests { untouched.append(try Digest(copying: digest)) } }

    var position = part.lower
    while position < part.upper {
      // A chunk of a huge file takes long enough to be worth asking in between.
      if position > part.lower, source.next(after: position) == .cancelled { return .cancelled }
      let count = min(Self.pieceSize, part.upper - position)
      let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
      try source.read(into: piece, at: position)
      sum?.update(UnsafeRawBufferPointer(piece))
      for digest in digests { digest.update(UnsafeRawBufferPointer(piece)) }
      position += count
    }
    guard let sum, let expected, sum.value != expected.value else { return .good }
    digests = untouched
    return .damaged
  }
}
