// SPDX-License-Identifier: Apache-2.0

/// The Retry-After field (RFC 9110 section 10.2.3).
package enum RetryAfter {
  /// The longest wait that a server can ask for, in seconds.
  package static let longest = 3600

  /// Seconds to wait, 0...3600, from a number of seconds or a date; nil where it is neither.
  ///
  /// - Parameter now: the wall clock in seconds since 1970.
  package static func parse(_ text: String, now: Int) -> Int? {
    let digits = FieldText.trimmed(Array(text.utf8)[...])
    if !digits.isEmpty, digits.allSatisfy(FieldText.isDigit) {
      // Beyond `Int` is still a number, and a long one.
      return min(FieldText.decimal(digits) ?? longest, longest)
    }
    guard let date = HTTPDate.parse(text) else { return nil }
    if date <= now { return 0 }
    let (wait, overflow) = date.subtractingReportingOverflow(now)
    return overflow ? longest : min(wait, longest)
  }
}
