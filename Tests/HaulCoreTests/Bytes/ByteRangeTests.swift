// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

@Suite("ByteRange")
struct ByteRangeTests {
  @Test(
    "the common part of two ranges",
    arguments: [
      (ByteRange(0, 10), ByteRange(5, 15), ByteRange(5, 10)),
      (ByteRange(0, 10), ByteRange(2, 3), ByteRange(2, 3)),
      (ByteRange(0, 10), ByteRange(10, 20), nil),
      (ByteRange(0, 10), ByteRange(4, 4), nil),
      (ByteRange(0, Int.max), ByteRange(Int.max - 1, Int.max), ByteRange(Int.max - 1, Int.max)),
    ] as [(ByteRange, ByteRange, ByteRange?)])
  func intersection(_ one: ByteRange, _ other: ByteRange, _ expected: ByteRange?) {
    #expect(one.intersection(other) == expected)
    #expect(other.intersection(one) == expected)
  }

  @Test("HTTP names the last byte, not the end")
  func httpSpec() {
    #expect(ByteRange(0, 1).httpSpec == "0-0")
    #expect(ByteRange(100, 200).httpSpec == "100-199")
  }
}
