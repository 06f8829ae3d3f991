// SPDX-License-Identifier: Apache-2.0

extension ExpectedDigest {
  private static let codes: [DigestAlgorithm: UInt8] = [.sha256: 1, .sha512: 2, .sha1: 3, .md5: 4]

  /// As it stands in a manifest.
  /// - Parameter isDeclared: whether it is the server's own, and not one that the user has brought.
  package func stored(isDeclared: Bool = false) -> ManifestHeader.ExpectedDigest? {
    Self.codes[algorithm].flatMap {
      ManifestHeader.ExpectedDigest(
        algorithm: isDeclared ? $0 | ManifestHeader.ExpectedDigest.declared : $0, bytes: bytes)
    }
  }

  /// Nil where the manifest's code or length is none of ours.
  package init?(stored: ManifestHeader.ExpectedDigest) {
    let code = stored.algorithm & ~ManifestHeader.ExpectedDigest.declared
    guard let algorithm = Self.codes.first(where: { $0.value == code })?.key else { return nil }
    self.init(algorithm, stored.bytes)
  }
}

extension ManifestHeader.ExpectedDigest {
  /// The bit of the algorithm's code that tells a server's digest from a user's.
  static let declared: UInt8 = 0x80

  /// Whether the server itself has declared it.
  package var isDeclared: Bool { algorithm & Self.declared != 0 }
}
