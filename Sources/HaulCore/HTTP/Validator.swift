// SPDX-License-Identifier: Apache-2.0

/// A strong validator: what a conditional request can be bound to (RFC 9110 section 8.8.1).
package enum Validator: Hashable, Sendable {
  /// The entity tag as it is sent in If-Match, with its quotes.
  case strongETag(String)
  /// The date as the server wrote it, for If-Unmodified-Since, and in seconds since 1970.
  case lastModified(String, seconds: Int)
}
