// SPDX-License-Identifier: Apache-2.0

/// What a resource consists of.
package enum OriginContent: Sendable, Hashable {
  case reference(ReferenceContent)
  case bytes([UInt8])

  /// Length in bytes.
  package var length: Int {
    switch self {
    case .reference(let content): content.length
    case .bytes(let bytes): bytes.count
    }
  }

  /// Fills `buffer` from `offset`; past the end of literal bytes it gives zeros.
  func fill(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) {
    switch self {
    case .reference(let content):
      content.fill(buffer, at: offset)
    case .bytes(let bytes):
      let available = max(0, min(buffer.count, bytes.count - offset))
      bytes.withUnsafeBytes { source in
        guard available > 0 else { return }
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[offset..<offset + available]))
      }
      for index in available..<buffer.count { buffer[index] = 0 }
    }
  }
}
