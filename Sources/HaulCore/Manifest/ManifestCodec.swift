// SPDX-License-Identifier: Apache-2.0

/// Turns header pages and slots into bytes and back. Docs/manifest-format.md shows every field.
///
/// Decoding takes hostile input: every count is checked against its bound before anything is allocated by it,
/// and nothing that decoding accepts can make ``ChunkGrid`` or ``ManifestLayout`` overflow.
package struct ManifestCodec: Sendable {
  package static let version: UInt32 = 1
  package static let headerMagic = [UInt8]("HAULMAN1".utf8)
  package static let slotMagic = [UInt8]("HAULSLT1".utf8)
  /// No file is longer; the bound keeps `chunk count * chunk size` inside an Int.
  package static let greatestLength = 1 << 62
  package static let chunkSizes = (1 << 12)...(1 << 42)

  /// XXH3-64 with seed 0.
  package typealias Hash = @Sendable (UnsafeRawBufferPointer) -> UInt64

  package let hash: Hash

  package init(hash: @escaping Hash) { self.hash = hash }

  /// The last 8 bytes of a page or slot hold the hash of all before them.
  func seal(_ bytes: inout [UInt8]) {
    bytes.put(hash(of: bytes), at: bytes.count - ManifestLayout.hashSize)
  }

  func isSealed(_ bytes: [UInt8]) -> Bool {
    bytes.get(UInt64.self, at: bytes.count - ManifestLayout.hashSize) == hash(of: bytes)
  }

  private func hash(of bytes: [UInt8]) -> UInt64 {
    bytes.withUnsafeBytes { hash(UnsafeRawBufferPointer(rebasing: $0.dropLast(ManifestLayout.hashSize))) }
  }
}
