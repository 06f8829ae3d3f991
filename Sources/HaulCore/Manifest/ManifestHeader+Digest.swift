// SPDX-License-Identifier: Apache-2.0

extension ExpectedDigest {
  private static let codes: [DigestAlgorithm: UInt8] = [.sha256: 1, .sha512: 2, .sha1: 3, .md5: 4]

  /// As it stands in a manifest.
  package var stored: ManifestHeader.ExpectedDigest? {
    Self.codes[algorithm].flatMap { ManifestHeader.ExpectedDigest(algorithm: $0, bytes: bytes) }
  }

  /// Nil where the manifest's code or length is none of ours.
  package init?(stored: ManifestHeader.ExpectedDigest) {
    guard let algorithm = Self.codes.first(where: { $0.value == stored.algorithm })?.key else { return nil }
    self.init(algorithm, stored.bytes)
  }
}
