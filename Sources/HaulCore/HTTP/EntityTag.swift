// SPDX-License-Identifier: Apache-2.0

/// An entity tag (RFC 9110 section 8.8.3).
package struct EntityTag: Equatable, Sendable {
  /// The longest tag that is taken, in bytes with its quotes: it is echoed in requests and stored.
  package static let mostBytes = 1024

  /// The text between the quotes.
  package let opaque: String
  package let isWeak: Bool

  /// Reads `"…"` or `W/"…"`; nil for anything else. What passes can be echoed in a request: it has no control
  /// character, no space and no quote.
  package init?(_ text: String) {
    guard text.utf8.count <= Self.mostBytes else { return nil }
    var rest = Array(text.utf8)[...]
    let isWeak = rest.starts(with: "W/".utf8)
    if isWeak { rest.removeFirst(2) }
    let quote = UInt8(ascii: "\"")
    guard rest.count >= 2, rest.popFirst() == quote, rest.popLast() == quote else { return nil }
    let opaque = String(decoding: rest, as: UTF8.self)
    let isClean = opaque.unicodeScalars.allSatisfy { scalar in
      scalar.value == 0x21 || (0x23...0x7E).contains(scalar.value) || scalar.value >= 0xA0
    }
    guard isClean else { return nil }
    self.opaque = opaque
    self.isWeak = isWeak
  }

  /// The tag as it is sent.
  package var field: String { isWeak ? "W/\"\(opaque)\"" : "\"\(opaque)\"" }

  /// Strong comparison: both strong, and the same bytes.
  package func strongly(equals other: EntityTag) -> Bool {
    !isWeak && !other.isWeak && FieldText.identical(opaque, other.opaque)
  }

  /// Weak comparison: the same bytes, whatever their strength.
  package func weakly(equals other: EntityTag) -> Bool { FieldText.identical(opaque, other.opaque) }

  package static func == (left: EntityTag, right: EntityTag) -> Bool {
    left.isWeak == right.isWeak && FieldText.identical(left.opaque, right.opaque)
  }
}
