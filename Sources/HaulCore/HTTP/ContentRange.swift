// SPDX-License-Identifier: Apache-2.0

/// The value of a Content-Range field in bytes (RFC 9110 section 14.4).
package enum ContentRange: Equatable, Sendable {
  /// `bytes F-L/T`, or `bytes F-L/*` with no total.
  case satisfied(ByteRange, total: Int?)
  /// `bytes */T`, which stands on a 416.
  case unsatisfied(total: Int)

  /// Reads the value, or answers nil where its unit or its numbers are not valid: such a response may never
  /// be combined with another. Forms that servers are known to send (``isOddForm(_:)``) are read all the
  /// same.
  package static func parse(_ text: String) -> ContentRange? {
    guard let (_, rest) = split(text) else { return nil }
    let halves = rest.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard halves.count == 2 else { return nil }
    let isTotalUnknown = halves[1].elementsEqual("*".utf8)
    let total = FieldText.decimal(halves[1])
    guard isTotalUnknown || total != nil else { return nil }

    if halves[0].elementsEqual("*".utf8) { return total.map { .unsatisfied(total: $0) } }
    let ends = halves[0].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard ends.count == 2, let first = FieldText.decimal(ends[0]), let last = FieldText.decimal(ends[1])
    else {
      return nil
    }
    // The half-open end must itself be a number.
    guard last >= first, last < Int.max, total.map({ $0 > last }) ?? true else { return nil }
    return .satisfied(ByteRange(first, last + 1), total: total)
  }

  /// Whether `text` has a readable unit but not exactly one space behind it: `bytes=0-9/10`, `bytes0-9/10`.
  package static func isOddForm(_ text: String) -> Bool {
    guard let (separator, _) = split(text) else { return false }
    return !separator.elementsEqual(" ".utf8)
  }

  /// What stands between the unit and the numbers, and the numbers. Nil for a unit other than bytes.
  private static func split(_ text: String) -> (separator: ArraySlice<UInt8>, rest: ArraySlice<UInt8>)? {
    let bytes = FieldText.trimmed(Array(text.utf8)[...])
    let unit = "bytes".utf8
    guard bytes.count > unit.count, bytes.prefix(unit.count).map(FieldText.lowercased).elementsEqual(unit)
    else {
      return nil
    }
    let behind = bytes.dropFirst(unit.count)
    let separator = behind.prefix { FieldText.isSpace($0) || $0 == UInt8(ascii: "=") }
    guard separator.count(where: { $0 == UInt8(ascii: "=") }) <= 1 else { return nil }
    return (separator, behind.dropFirst(separator.count))
  }
}
