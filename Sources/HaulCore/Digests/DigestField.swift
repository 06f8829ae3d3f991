// SPDX-License-Identifier: Apache-2.0

/// A header field in which a server declares a digest of the whole file. In the order in which they are believed.
package enum DigestField: String, CaseIterable, Sendable {
  /// RFC 9530: of the whole representation, the same on every part.
  case reprDigest = "Repr-Digest"
  /// Hugging Face: the SHA-256 of a large file, on the redirect to where it is stored.
  case linkedETag = "X-Linked-Etag"
  /// S3 and its kin.
  case amazon = "x-amz-checksum-sha256"
  /// RFC 3230, which RFC 9530 replaced. Many servers send the digest of the part in it.
  case digest = "Digest"
  /// Google Cloud Storage.
  case google = "x-goog-hash"
  /// RFC 9530: of the body of one response. Speaks of the file where that is the whole file.
  case contentDigest = "Content-Digest"
  /// What an earlier run has kept in the manifest.
  case earlier = "as declared to an earlier run"
  /// What the user has brought to an earlier run, which has kept it in the manifest.
  case given = "as given to an earlier run"

  /// Whether its SHA-256 or SHA-512 may stand for the identity of a file.
  var isIdentity: Bool { self == .reprDigest || self == .linkedETag }
}

/// A digest that a response declares for the whole file.
package struct DeclaredDigest: Hashable, Sendable {
  package let digest: ExpectedDigest
  package let field: DigestField

  package init(_ digest: ExpectedDigest, in field: DigestField) {
    self.digest = digest
    self.field = field
  }
}
