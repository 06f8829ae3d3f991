// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

@Suite("EntityTag")
struct EntityTagTests {
  @Test(
    "tags",
    arguments: [
      ("\"\"", "", false), ("\"abc\"", "abc", false), ("W/\"abc\"", "abc", true), ("\"W/x\"", "W/x", false),
      ("\"a\\b\"", "a\\b", false), ("\"!#~\"", "!#~", false),
      ("\"\u{E9}\u{1F600}\"", "\u{E9}\u{1F600}", false),
    ])
  func tags(_ text: String, _ opaque: String, _ isWeak: Bool) throws {
    let tag = try #require(EntityTag(text))
    #expect(tag.opaque == opaque)
    #expect(tag.isWeak == isWeak)
    #expect(tag.field == text, "a tag is sent back as it came")
  }

  @Test(
    "no tags",
    arguments: [
      "", "\"", "abc", "\"abc", "abc\"", "'abc'", "w/\"abc\"", "W/", "W/\"", "W/abc", " \"abc\"", "\"abc\" ",
      "\"a\"b\"", "\"a b\"", "\"a\tb\"", "\"a\r\nX: y\"", "\"a\u{0}\"", "\"a\u{7F}\"", "\"a\u{85}\"",
      "\"a\", \"b\"", "\"" + String(repeating: "a", count: 1023) + "\"",
    ])
  func refused(_ text: String) {
    #expect(EntityTag(text) == nil)
  }

  @Test("the longest tag")
  func longest() {
    #expect(EntityTag("\"" + String(repeating: "a", count: 1022) + "\"") != nil)
  }

  @Test(
    "strong comparison",
    arguments: [
      ("\"a\"", "\"a\"", true), ("\"a\"", "\"b\"", false), ("\"a\"", "\"A\"", false),
      ("W/\"a\"", "W/\"a\"", false),
      ("W/\"a\"", "\"a\"", false),
      // Equal as text for people, not as bytes.
      ("\"\u{E9}\"", "\"e\u{301}\"", false),
    ])
  func strong(_ one: String, _ other: String, _ expected: Bool) throws {
    let one = try #require(EntityTag(one))
    let other = try #require(EntityTag(other))
    #expect(one.strongly(equals: other) == expected)
    #expect(other.strongly(equals: one) == expected)
  }
}
