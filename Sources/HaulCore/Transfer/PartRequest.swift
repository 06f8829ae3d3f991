// SPDX-License-Identifier: Apache-2.0

/// One request as a transfer wants it sent.
package struct PartRequest: Sendable, Equatable {
  /// The bytes asked for, or nil to ask for the whole file without a Range field.
  package var range: ByteRange?
  /// What the file must still have; a server that looks at it answers 412 where the file has changed.
  package var condition: Validator?
  /// Over a connection of its own, so that another backend may answer.
  package var isFresh: Bool
  /// By the URL that the user gave, redirects and all, instead of the place that answered before.
  package var asksOriginal: Bool
  /// At another place than the others, for bytes that are there already and are only compared.
  package var comparesPlace: Bool

  package init(
    range: ByteRange?, condition: Validator? = nil, isFresh: Bool = false, asksOriginal: Bool = false,
    comparesPlace: Bool = false
  ) {
    self.range = range
    self.condition = condition
    self.isFresh = isFresh
    self.asksOriginal = asksOriginal
    self.comparesPlace = comparesPlace
  }
}

/// Where an answer comes from, as far as decisions depend on it.
package struct AnswerPlace: Sendable, Equatable {
  /// Origin and path of the final URL.
  package var source: String
  /// Over TLS, whose own end of data cannot be forged or lost.
  package var isSecure: Bool
  /// Whether the URL came from a redirect or is signed, so that the original may lead to a newer one.
  package var isRenewable: Bool

  package init(source: String = "", isSecure: Bool = false, isRenewable: Bool = false) {
    self.source = source
    self.isSecure = isSecure
    self.isRenewable = isRenewable
  }
}
