// SPDX-License-Identifier: Apache-2.0

/// One byte range as asked for (RFC 9110 section 14.1.2). Several ranges in one field are not served: they
/// parse as nil, and a Range that is ignored gets the whole body.
package enum RangeRequest: Sendable, Hashable {
  /// `bytes=a-b`, both inclusive.
  case closed(Int, Int)
  /// `bytes=a-`
  case from(Int)
  /// `bytes=-n`: the last n bytes.
  case suffix(Int)

  package init?(_ field: String) {
    guard field.lowercased().hasPrefix("bytes=") else { return nil }
    let spec = field.dropFirst(6).trimmed
    guard let dash = spec.firstIndex(of: "-") else { return nil }
    let first = spec[..<dash].trimmed
    let last = spec[spec.index(after: dash)...].trimmed
    switch (first.isEmpty, last.isEmpty) {
    case (true, true): return nil
    case (true, false):
      guard let count = Self.number(last) else { return nil }
      self = .suffix(count)
    case (false, true):
      guard let start = Self.number(first) else { return nil }
      self = .from(start)
    case (false, false):
      guard let start = Self.number(first), let end = Self.number(last), start <= end else { return nil }
      self = .closed(start, end)
    }
  }

  /// The half-open part of a representation of `length` bytes; nil when it is unsatisfiable (416).
  package func resolved(length: Int) -> Range<Int>? {
    switch self {
    case .closed(let first, let last): first < length ? first..<min(last, length - 1) + 1 : nil
    case .from(let first): first < length ? first..<length : nil
    case .suffix(let count): count > 0 && length > 0 ? max(0, length - count)..<length : nil
    }
  }

  /// Digits only: `Int` alone would take a sign.
  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } ? Int(text) : nil
  }
}
