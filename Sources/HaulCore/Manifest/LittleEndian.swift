// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
  /// Stores an integer at a byte offset, least significant byte first.
  /// - Precondition: the integer fits into the array at that place.
  mutating func put<Value: FixedWidthInteger>(_ value: Value, at offset: Int) {
    precondition(offset >= 0 && offset + MemoryLayout<Value>.size <= count, "outside of the page")
    withUnsafeMutableBytes { $0.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self) }
  }

  /// Copies bytes to a byte offset.
  /// - Precondition: they fit into the array at that place.
  mutating func put(_ bytes: some Collection<UInt8>, at offset: Int) {
    replaceSubrange(offset..<offset + bytes.count, with: bytes)
  }

  /// The integer at a byte offset, least significant byte first.
  /// - Precondition: it lies wholly inside the array.
  func get<Value: FixedWidthInteger>(_ type: Value.Type, at offset: Int) -> Value {
    precondition(offset >= 0 && offset + MemoryLayout<Value>.size <= count, "outside of the page")
    return withUnsafeBytes { Value(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: type)) }
  }

  func hasPrefix(_ bytes: [UInt8]) -> Bool { starts(with: bytes) }

  /// True where every byte of `range` is 0.
  func isBlank(_ range: Range<Int>) -> Bool { self[range].allSatisfy { $0 == 0 } }
}
