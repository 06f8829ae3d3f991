// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

@Suite("TerminalText")
struct TerminalTextTests {
  @Test(
    "what acts becomes visible",
    arguments: [
      ("plain caf\u{E9} \u{1F600} \\ %", "plain caf\u{E9} \u{1F600} \\ %"),
      ("\u{1B}]52;c;x\u{7}", "\\x1b]52;c;x\\x07"),
      ("a\r\nb\tc\u{0}\u{8}", "a\\x0d\\x0ab\\x09c\\x00\\x08"),
      ("\u{7F}\u{80}\u{9B}31m\u{9F}\u{A0}", "\\x7f\\x80\\x9b31m\\x9f\u{A0}"),
      ("exe.\u{202E}txt", "exe.<U+202E>txt"),
      ("\u{202A}\u{2066}\u{2069}\u{200E}\u{200F}", "<U+202A><U+2066><U+2069><U+200E><U+200F>"),
      ("\u{061C}\u{2028}", "<U+061C><U+2028>"),
      // A mark behind a control character does not hide it.
      ("\u{1B}\u{301}", "\\x1b\u{301}"),
      ("", ""),
    ])
  func escapes(_ raw: String, _ expected: String) {
    #expect(TerminalText.escaped(raw) == expected)
    #expect(TerminalText.escaped(expected) == expected)
  }

  @Test("no control character is left")
  func allControls() {
    for value in Array(0..<0x20) + Array(0x7F...0x9F) as [UInt32] {
      let escaped = TerminalText.escaped(String(Unicode.Scalar(value)!))
      #expect(escaped.utf8.allSatisfy { (0x20..<0x7F).contains($0) })
      #expect(escaped.utf8.count == 4)
    }
  }
}
