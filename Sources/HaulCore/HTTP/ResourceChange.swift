// SPDX-License-Identifier: Apache-2.0

/// The first difference by which two responses show different generations.
package enum ResourceChange: Equatable, Sendable, CustomStringConvertible {
  case length(was: Int, is: Int)
  /// The tags as they are sent; `was` is nil where the earlier response had none.
  case etag(was: String?, is: String)
  case etagVanished(was: String)
  case lastModified(was: String?, is: String?)
  /// Another validator than an earlier run has stored, of which only a hash is kept.
  case storedValidator(isTag: Bool)

  /// For people: whatever the server wrote is escaped.
  package var description: String {
    switch self {
    case .length(let was, let now):
      "the length was \(was) bytes and is now \(now) bytes"
    case .etag(let was, let now):
      "the ETag was \(Self.shown(was)) and is now \(Self.shown(now))"
    case .etagVanished(let was):
      "the ETag was \(Self.shown(was)) and is now missing"
    case .lastModified(let was, let now):
      "Last-Modified was \(Self.shown(was)) and is now \(Self.shown(now))"
    case .storedValidator(let isTag):
      "its \(isTag ? "ETag" : "Last-Modified") is no longer the one that it was begun with"
    }
  }

  private static func shown(_ text: String?) -> String { text.map(TerminalText.escaped) ?? "missing" }
}
