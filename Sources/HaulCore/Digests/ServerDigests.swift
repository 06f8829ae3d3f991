// SPDX-License-Identifier: Apache-2.0

/// What one response declares about the digest of the whole file.
package struct ServerDigests: Equatable, Sendable {
  package private(set) var declared: [DeclaredDigest] = []

  package init() {}

  /// What an earlier run has kept of them.
  package init(earlier digest: ExpectedDigest) { add([digest], .earlier) }

  /// Of an answer with bytes of the file.
  /// - Parameter bodyIsWhole: whether its body is the whole file.
  package init(_ head: ResponseHead, bodyIsWhole: Bool) {
    let headers = head.headers
    add(DigestFieldText.structured(headers.all("Repr-Digest")), .reprDigest)
    addLinked(head)
    if !FieldText.equalsIgnoringCase(headers["x-amz-checksum-type"] ?? "", "COMPOSITE") {
      add(headers.all(DigestField.amazon.rawValue).compactMap(DigestFieldText.amazon), .amazon)
    }
    add(DigestFieldText.instance(headers.all("Digest")), .digest)
    // Of what is stored; where that is compressed, other bytes are sent.
    let stored = headers["x-goog-stored-content-encoding"] ?? "identity"
    if FieldText.equalsIgnoringCase(stored, "identity") {
      add(DigestFieldText.google(headers.all("x-goog-hash")), .google)
    }
    if bodyIsWhole, let digest = Self.ofBody(head) { add([digest], .contentDigest) }
  }

  /// Of an answer whose body is the whole file, where what its server says of the file is not believed:
  /// whether the body came as it was sent needs no belief.
  package init(ofWholeBody head: ResponseHead) {
    if let digest = Self.ofBody(head) { add([digest], .contentDigest) }
  }

  /// Of a redirect: everything but `X-Linked-Etag` would be about the redirect's own text.
  package init(hop head: ResponseHead) { addLinked(head) }

  private mutating func addLinked(_ head: ResponseHead) {
    add(head.headers.all("X-Linked-Etag").compactMap(DigestFieldText.linkedETag), .linkedETag)
  }

  /// What the body of this one response must have (RFC 9530 `Content-Digest`).
  package static func ofBody(_ head: ResponseHead) -> ExpectedDigest? {
    let digests = DigestFieldText.structured(head.headers.all("Content-Digest"))
    return digests.first { $0.algorithm == .sha256 } ?? digests.first
  }

  package var isEmpty: Bool { declared.isEmpty }

  /// Takes in what another response on the way to the same bytes has declared.
  package mutating func add(_ other: ServerDigests) { declared += other.declared }

  private mutating func add(_ digests: [ExpectedDigest], _ field: DigestField) {
    declared += digests.map { DeclaredDigest($0, in: field) }
  }
}
