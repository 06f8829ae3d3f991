// SPDX-License-Identifier: Apache-2.0

/// A half-open range of byte offsets, `lower ..< upper`, within one file.
///
/// HTTP writes ranges with an inclusive last byte; that form exists only at the edge (``httpSpec``).
package struct ByteRange: Hashable, Sendable, CustomStringConvertible {
  package var lower: Int
  package var upper: Int

  /// - Precondition: `0 <= lower <= upper`.
  package init(_ lower: Int, _ upper: Int) {
    precondition(lower >= 0 && lower <= upper, "a range of bytes runs forward from 0")
    self.lower = lower
    self.upper = upper
  }

  package var count: Int { upper - lower }
  package var isEmpty: Bool { lower == upper }

  package func contains(_ offset: Int) -> Bool { offset >= lower && offset < upper }

  package func contains(_ other: ByteRange) -> Bool { other.lower >= lower && other.upper <= upper }

  package func overlaps(_ other: ByteRange) -> Bool { lower < other.upper && other.lower < upper }

  /// The common part, or nil where the two do not meet.
  package func intersection(_ other: ByteRange) -> ByteRange? {
    let from = max(lower, other.lower)
    let to = min(upper, other.upper)
    return from < to ? ByteRange(from, to) : nil
  }

  /// The value after `bytes=` in a Range field (RFC 9110 section 14.1.2). Only for ranges that are not empty.
  package var httpSpec: String { "\(lower)-\(upper - 1)" }

  package var description: String { "[\(lower), \(upper))" }
}
