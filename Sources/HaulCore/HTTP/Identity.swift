// SPDX-License-Identifier: Apache-2.0

/// What a response says about which generation it belongs to. It means something within one source only.
package struct Identity: Equatable, Sendable {
  /// The length of the whole representation in bytes, where known.
  package var length: Int?
  /// Nil where the field is absent or not a tag.
  package var etag: EntityTag?
  /// The field as the server wrote it; it may not be a date.
  package var lastModified: String?
  /// Whether the response's own Date shows that the resource had at least a second to change after
  /// `lastModified` without doing so (RFC 9110 section 8.8.2.2).
  package var lastModifiedIsStrong: Bool

  package init(length: Int?, etag: EntityTag?, lastModified: String?, lastModifiedIsStrong: Bool) {
    self.length = length
    self.etag = etag
    self.lastModified = lastModified
    self.lastModifiedIsStrong = lastModifiedIsStrong
  }

  /// - Parameter length: the length of the whole representation, which the caller took from Content-Range or
  ///   Content-Length.
  package init(head: ResponseHead, length: Int?) {
    let lastModified = head.headers["Last-Modified"]
    let modified = lastModified.flatMap(HTTPDate.parse)
    let sent = head.headers["Date"].flatMap(HTTPDate.parse)
    var isStrong = false
    if let modified, let sent { isStrong = sent >= modified + 1 }
    self.init(
      length: length, etag: head.headers["ETag"].flatMap(EntityTag.init), lastModified: lastModified,
      lastModifiedIsStrong: isStrong)
  }

  /// What a head says of the whole file, its length taken from where its status puts it.
  package init(head: ResponseHead) {
    var length: Int?
    switch head.status {
    case 206, 416:
      switch head.headers["Content-Range"].flatMap(ContentRange.parse) {
      case .satisfied(_, let total): length = total
      case .unsatisfied(let total): length = total
      case nil: break
      }
    default:
      if case .exact(let value) = head.contentLength, !head.isChunked { length = value }
    }
    self.init(head: head, length: length)
  }

  /// The same without its entity tag, for servers whose tags say nothing.
  package var withoutTag: Identity {
    var copy = self
    copy.etag = nil
    return copy
  }

  /// Whether `other` is told from this one by its entity tag alone: perhaps another backend's, perhaps random.
  /// - Note: a length that is unknown on either side proves nothing.
  package func differsOnlyInTag(from other: Identity) -> Bool {
    length != nil && length == other.length && FieldText.identical(lastModified, other.lastModified)
  }

  /// The same where a length that is not told may be any.
  package func mayDifferOnlyInTag(from other: Identity) -> Bool {
    (length == nil || other.length == nil || length == other.length)
      && FieldText.identical(lastModified, other.lastModified)
  }

  /// Whether both have one strong tag. Where they differ all the same, somebody is not telling the truth.
  package func sharesTag(with other: Identity) -> Bool {
    guard let etag, !etag.isWeak else { return false }
    return etag == other.etag
  }

  /// The best validator for a condition, or nil where there is no strong one.
  package var strongest: Validator? {
    if let etag, !etag.isWeak { return .strongETag(etag.field) }
    guard lastModifiedIsStrong, let lastModified, let seconds = HTTPDate.parse(lastModified) else {
      return nil
    }
    return .lastModified(lastModified, seconds: seconds)
  }

  package func tier(hasTrustedDigest: Bool) -> Tier {
    switch strongest {
    case .strongETag: .strongETag
    case .lastModified: .strongDate
    case nil: hasTrustedDigest ? .digest : .none
    }
  }

  /// What shows that `other`, from a later response, is another generation; nil where nothing does.
  ///
  /// A strong ETag decides alone. Without one every validator must be the same text (but a weak tag may have
  /// become a strong one), and one that appears or
  /// vanishes is a change. Only a Last-Modified may be missing later, where the weak ETag is equal: some
  /// servers leave it out of a 206. A length that is unknown on one side says nothing.
  package func change(to other: Identity) -> ResourceChange? {
    if let was = length, let now = other.length, was != now { return .length(was: was, is: now) }
    if let etag {
      guard let now = other.etag else { return .etagVanished(was: etag.field) }
      // Apache marks the tag of a file as weak for a second after it was written, and as strong from then on.
      let isSame = etag.isWeak ? etag.weakly(equals: now) : etag == now
      guard isSame else { return .etag(was: etag.field, is: now.field) }
      if !etag.isWeak || other.lastModified == nil { return nil }
    } else if let now = other.etag {
      return .etag(was: nil, is: now.field)
    }
    guard FieldText.identical(lastModified, other.lastModified) else {
      return .lastModified(was: lastModified, is: other.lastModified)
    }
    return nil
  }
}
