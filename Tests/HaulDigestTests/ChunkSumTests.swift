// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HaulDigest

@Suite("ChunkSum")
struct ChunkSumTests {
  @Test(
    "is XXH3-64 with its seed",
    arguments: [
      ("", 0, 0x2D06_8005_38D3_94C2),
      ("abc", 0, 0x78AF_5F94_892F_3950),
    ] as [(String, UInt64, UInt64)])
  func vectors(_ text: String, _ seed: UInt64, _ expected: UInt64) {
    let sum = ChunkSum(seed: seed)
    Array(text.utf8).withUnsafeBytes { sum.update($0) }
    #expect(sum.value == expected)
  }

  @Test("another seed gives another sum, pieces give the same")
  func pieces() {
    let bytes = [UInt8](repeating: 7, count: 5000)
    #expect(sum(of: bytes, seed: 1) != sum(of: bytes, seed: 2))
    let pieces = ChunkSum(seed: 1)
    bytes[..<1234].withUnsafeBytes { pieces.update($0) }
    bytes[1234...].withUnsafeBytes { pieces.update($0) }
    #expect(pieces.value == sum(of: bytes, seed: 1))
  }

  @Test("a raw sum of 0 is kept as 1")
  func zero() {
    #expect(ChunkSum.stored(0) == 1)
    #expect(ChunkSum.stored(1) == 1)
    #expect(ChunkSum.stored(.max) == .max)
  }
}

func sum(of bytes: some Collection<UInt8>, seed: UInt64) -> UInt64 {
  let sum = ChunkSum(seed: seed)
  Array(bytes).withUnsafeBytes { sum.update($0) }
  return sum.value
}
