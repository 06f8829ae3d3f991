// SPDX-License-Identifier: Apache-2.0

/// What the Content-Length fields of a response say together (RFC 9110 section 8.6).
package enum ContentLength: Equatable, Sendable {
  case absent
  case exact(Int)
  /// Not a number of digits, beyond `Int`, or several values that differ.
  case invalid

  /// The same value said more than once, in one field or in several, counts as said once.
  package static func parse(_ values: [String]) -> ContentLength {
    if values.isEmpty { return .absent }
    var length: Int?
    for value in values {
      for element in Array(value.utf8).split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
        guard let number = FieldText.decimal(FieldText.trimmed(element)), length ?? number == number else {
          return .invalid
        }
        length = number
      }
    }
    return length.map { .exact($0) } ?? .invalid
  }
}
