// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

@Suite("ContentRange")
struct ContentRangeTests {
  @Test(
    "valid values",
    arguments: [
      ("bytes 0-0/1", .satisfied(ByteRange(0, 1), total: 1)),
      ("bytes 100-199/10000", .satisfied(ByteRange(100, 200), total: 10000)),
      ("bytes 0-9/*", .satisfied(ByteRange(0, 10), total: nil)),
      ("Bytes 0-9/10", .satisfied(ByteRange(0, 10), total: 10)),
      (" bytes 0-9/10 ", .satisfied(ByteRange(0, 10), total: 10)),
      (
        "bytes 0-9223372036854775806/9223372036854775807",
        .satisfied(ByteRange(0, Int.max), total: Int.max)
      ),
      ("bytes */0", .unsatisfied(total: 0)),
      ("bytes */10000", .unsatisfied(total: 10000)),
    ] as [(String, ContentRange)])
  func valid(_ text: String, _ expected: ContentRange) {
    #expect(ContentRange.parse(text) == expected)
    #expect(!ContentRange.isOddForm(text))
  }

  @Test(
    "odd forms with valid numbers",
    arguments: ["bytes=0-9/10", "bytes= 0-9/10", "bytes0-9/10", "bytes  0-9/10"])
  func odd(_ text: String) {
    #expect(ContentRange.parse(text) == .satisfied(ByteRange(0, 10), total: 10))
    #expect(ContentRange.isOddForm(text))
  }

  @Test(
    "refused",
    arguments: [
      "", "bytes", "bytes ", "0-9/10", "items 0-9/10", "bytesx 0-9/10", "bytes 0-9", "bytes 0-9/",
      "bytes -9/10",
      "bytes 0-/10", "bytes */*", "bytes */", "bytes 0-9/10/10", "bytes 0-9-9/10", "bytes 0 - 9/10",
      "bytes 0-9 /10", "bytes 0-9/ 10", "bytes 0-9/10 x", "bytes ==0-9/10", "bytes +0-9/10", "bytes 0x0-9/10",
      "bytes 9-0/10",
      // L<F as Fastly sends it at the end of a file.
      "bytes 278076-278075/278076",
      // T<=L.
      "bytes 0-10/10", "bytes 0-9/0",
      "bytes 0-9223372036854775807/*", "bytes 0-9223372036854775808/*", "bytes 0-9/18446744073709551626",
      "bytes -1-9/10", "bytes 0-9/-1", "bytes 0-9/10, bytes 0-9/10", "bytes \u{0660}-9/10",
    ])
  func refused(_ text: String) {
    #expect(ContentRange.parse(text) == nil)
  }
}
