// SPDX-License-Identifier: Apache-2.0

/// How one file is cut into chunks, the unit of account: every chunk has one size, a power of two, but the last.
package struct ChunkGrid: Hashable, Sendable {
  /// 1 MiB: small enough that an interrupted chunk costs little, large enough that 1 TiB has 2^20 bits.
  package static let smallestChunk = 1 << 20
  /// Above this many chunks their size doubles, so that a manifest stays below about 9 MiB whatever the file.
  package static let mostChunks = 1 << 20

  /// The length of the file in bytes.
  package let length: Int
  /// The size of every chunk but the last, in bytes.
  package let chunkSize: Int

  /// - Precondition: `length >= 0`.
  package init(length: Int) {
    precondition(length >= 0, "a file has no negative length")
    var size = Self.smallestChunk
    while (length - 1) / size >= Self.mostChunks { size *= 2 }
    self.length = length
    self.chunkSize = size
  }

  /// A grid read back from a manifest.
  /// - Precondition: `chunkSize` is a positive power of two.
  package init(length: Int, chunkSize: Int) {
    precondition(length >= 0 && chunkSize > 0 && chunkSize & (chunkSize - 1) == 0, "not a chunk grid")
    self.length = length
    self.chunkSize = chunkSize
  }

  package var count: Int { length == 0 ? 0 : (length - 1) / chunkSize + 1 }

  package var whole: ByteRange { ByteRange(0, length) }

  /// The bytes of chunk `index`.
  /// - Precondition: `0 <= index < count`.
  package func range(of index: Int) -> ByteRange {
    ByteRange(index * chunkSize, min((index + 1) * chunkSize, length))
  }

  /// The chunk that holds `offset`.
  package func index(at offset: Int) -> Int { offset / chunkSize }

  /// The next chunk border after `offset`, or the end of the file.
  package func border(after offset: Int) -> Int {
    min((offset / chunkSize + 1) * chunkSize, length)
  }

  /// The chunks that touch `range`.
  package func indices(touching range: ByteRange) -> Range<Int> {
    if range.isEmpty { return 0..<0 }
    return range.lower / chunkSize..<(range.upper - 1) / chunkSize + 1
  }
}
