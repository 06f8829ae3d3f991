// SPDX-License-Identifier: Apache-2.0

/// Origin and path: within one source, and only there, a validator identifies a generation.
///
/// User info, query and fragment are no part of it, because they may hold secrets and it is stored and shown.
package struct Source: Hashable, Sendable {
  package let origin: Origin
  /// Still percent-encoded, with its leading slash.
  package let path: String

  /// - Parameter path: all from the first `?` or `#` is dropped.
  package init(origin: Origin, path: String) {
    self.origin = origin
    let bare = String(
      decoding: path.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }, as: UTF8.self)
    self.path = bare.utf8.first == UInt8(ascii: "/") ? bare : "/" + bare
  }

  package var text: String { origin.text + path }
}
