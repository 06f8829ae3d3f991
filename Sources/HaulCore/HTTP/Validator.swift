// SPDX-License-Identifier: Apache-2.0

/// A strong validator: what a conditional request can be bound to (RFC 9110 section 8.8.1).
package enum Validator: Hashable, Sendable {
  /// The entity tag as it is sent in If-Match, with its quotes.
  case strongETag(String)
  /// The date as the server wrote it, for If-Unmodified-Since, and in seconds since 1970.
  case lastModified(String, seconds: Int)

  /// The header line of a request that only this generation may answer with bytes, or nil where the text could
  /// not be echoed byte by byte: then answers are compared instead.
  package var conditionLine: String? {
    let (name, text) =
      switch self {
      case .strongETag(let tag): ("If-Match", tag)
      case .lastModified(let date, _): ("If-Unmodified-Since", date)
      }
    guard text.utf8.count <= EntityTag.mostBytes, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
      return nil
    }
    return "\(name): \(text)"
  }
}
