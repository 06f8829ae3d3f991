// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

private let monday = "Mon, 07 Nov 1994 08:49:37 GMT"
private let mondaySeconds = 784_198_177
private let secondLater = "Mon, 07 Nov 1994 08:49:38 GMT"
private let secondBefore = "Mon, 07 Nov 1994 08:49:36 GMT"

@Suite("Identity")
struct IdentityTests {
  @Test(
    "the strongest validator and the tier",
    arguments: [
      ([("ETag", "\"a\""), ("Last-Modified", monday)], .strongETag("\"a\""), .strongETag),
      (
        [("ETag", "W/\"a\""), ("Last-Modified", monday), ("Date", secondLater)],
        .lastModified(monday, seconds: mondaySeconds), .strongDate
      ),
      ([("Last-Modified", monday), ("Date", monday)], nil, .none),
      ([("Last-Modified", monday), ("Date", secondBefore)], nil, .none),
      ([("Last-Modified", monday)], nil, .none),
      ([("Last-Modified", "yesterday"), ("Date", monday)], nil, .none),
      ([("Last-Modified", secondBefore), ("Date", "now")], nil, .none),
      ([("ETag", "W/\"a\"")], nil, .none),
      ([("ETag", "a")], nil, .none),
      ([("ETag", "\"a\r\nX: y\"")], nil, .none),
      ([], nil, .none),
    ] as [([(String, String)], Validator?, Tier)])
  func strongest(_ fields: [(String, String)], _ validator: Validator?, _ tier: Tier) {
    let identity = Identity(head: head(fields), length: 10)
    #expect(identity.strongest == validator)
    #expect(identity.tier(hasTrustedDigest: false) == tier)
    #expect(identity.tier(hasTrustedDigest: true) == (tier == .none ? .digest : tier))
    #expect(tier.canResume == (validator != nil))
    #expect(Tier.digest.canResume)
  }

  @Test(
    "what is a change and what is not",
    arguments: [
      // A strong ETag decides alone.
      (id("\"a\"", monday), id("\"a\"", monday), nil),
      (id("\"a\"", monday), id("\"a\"", nil), nil),
      (id("\"a\"", monday), id("\"a\"", secondLater), nil),
      (id("\"a\"", nil), id("\"b\"", nil), .etag(was: "\"a\"", is: "\"b\"")),
      (id("\"a\"", nil), id("W/\"a\"", nil), .etag(was: "\"a\"", is: "W/\"a\"")),
      (id("\"a\"", monday), id(nil, monday), .etagVanished(was: "\"a\"")),
      (id("\"a\"", monday), id("not a tag", monday), .etagVanished(was: "\"a\"")),
      // A weak one must be the same text, and the date too where there is one.
      (id("W/\"a\"", nil), id("W/\"a\"", nil), nil),
      (id("W/\"a\"", monday), id("W/\"a\"", nil), nil),
      (id("W/\"a\"", monday), id("W/\"a\"", secondLater), .lastModified(was: monday, is: secondLater)),
      (id("W/\"a\"", monday), id("\"a\"", monday), nil),
      (id("W/\"a\"", nil), id("\"b\"", nil), .etag(was: "W/\"a\"", is: "\"b\"")),
      (id("W/\"a\"", nil), id(nil, nil), .etagVanished(was: "W/\"a\"")),
      // No tag.
      (id(nil, nil), id(nil, nil), nil),
      (id(nil, monday), id(nil, monday), nil),
      (id(nil, monday), id(nil, nil), .lastModified(was: monday, is: nil)),
      (id(nil, nil), id(nil, monday), .lastModified(was: nil, is: monday)),
      (id(nil, "e\u{301}"), id(nil, "\u{E9}"), .lastModified(was: "e\u{301}", is: "\u{E9}")),
      (id(nil, monday), id("\"a\"", monday), .etag(was: nil, is: "\"a\"")),
      // The length comes first; an unknown one says nothing.
      (id("\"a\"", nil, 10), id("\"a\"", nil, 11), .length(was: 10, is: 11)),
      (id("\"a\"", nil, 10), id("\"a\"", nil, nil), nil),
      (id("\"a\"", nil, nil), id("\"a\"", nil, 10), nil),
    ] as [(Identity, Identity, ResourceChange?)])
  func change(_ was: Identity, _ now: Identity, _ expected: ResourceChange?) {
    #expect(was.change(to: now) == expected)
    if let expected { #expect(!expected.description.isEmpty) }
  }

  @Test("a change is told without letting the server speak to the terminal")
  func description() {
    let change = ResourceChange.lastModified(was: "\u{1B}]0;x\u{7}", is: nil)
    #expect(change.description == "Last-Modified was \\x1b]0;x\\x07 and is now missing")
  }

  private static func id(_ etag: String?, _ lastModified: String?, _ length: Int? = 10) -> Identity {
    Identity(
      head: head(
        [("ETag", etag), ("Last-Modified", lastModified)].compactMap { name, value in
          value.map { (name, $0) }
        }), length: length)
  }
}
