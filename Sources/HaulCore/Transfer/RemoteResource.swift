// SPDX-License-Identifier: Apache-2.0

/// What the first accepted response told about the file.
package struct RemoteResource: Sendable, Equatable {
  package var identity: Identity
  /// Whether an answer with exactly the range asked for was seen. What `Accept-Ranges` claims does not count.
  package var honoursRanges: Bool
  /// The same for the first answer, whatever came of it later.
  package let startedInRanges: Bool
  package var framing: Framing
  /// The name in Content-Disposition, decoded but not made safe.
  package var suggestedName: String?
  /// Whether the file itself is a web page.
  package var isPage: Bool
  /// Origin and path of the final URL that answered first.
  package var place: String

  package init(
    identity: Identity, honoursRanges: Bool, framing: Framing, suggestedName: String?, isPage: Bool = false,
    place: String = ""
  ) {
    self.identity = identity
    self.honoursRanges = honoursRanges
    startedInRanges = honoursRanges
    self.framing = framing
    self.suggestedName = suggestedName
    self.isPage = isPage
    self.place = place
  }

  /// In bytes; nil where the server does not tell.
  package var length: Int? { identity.length }
}
