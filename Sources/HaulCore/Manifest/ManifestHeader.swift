// SPDX-License-Identifier: Apache-2.0

/// The identity of one generation, as it stands in both header pages of a manifest. Written once.
package struct ManifestHeader: Equatable, Sendable {
  /// What the server's validator was. Raw values are the stored ones.
  package enum ValidatorKind: UInt8, Sendable {
    case none = 0
    case strongETag = 1
    case lastModified = 2
  }

  /// A digest that the finished file must have. `algorithm` is the stored code.
  package struct ExpectedDigest: Equatable, Sendable {
    /// 1 SHA-256, 2 SHA-512, 3 SHA-1, 4 MD5; others are kept as they are.
    package let algorithm: UInt8
    /// 1 to 64 bytes.
    package let bytes: [UInt8]

    /// Nil where the code is 0, or the digest is empty or longer than 64 bytes.
    package init?(algorithm: UInt8, bytes: [UInt8]) {
      guard algorithm != 0, (1...ManifestHeader.mostDigestBytes).contains(bytes.count) else { return nil }
      self.algorithm = algorithm
      self.bytes = bytes
    }
  }

  /// The longest source that is stored as text, in bytes of UTF-8.
  package static let mostSourceBytes = 2048
  package static let mostDigestBytes = 64
  package static let validatorHashBytes = 32

  package let id: ManifestID
  /// Seconds since 1970 by the wall clock; for people only.
  package let created: Int
  package let grid: ChunkGrid
  /// Origin and path in the form of ``storable(source:sha256:)``. Empty where unknown: it then equals no
  /// source.
  package let source: String
  package let validatorKind: ValidatorKind
  /// SHA-256 of the validator: 32 bytes, all 0 where there is none.
  package let validatorHash: [UInt8]
  /// May be replaced by a later run: who has brought a wrong one may correct it.
  package var expectedDigest: ExpectedDigest?
  /// The data file as stat(2) named it when the manifest was created.
  package var device: UInt64
  package var inode: UInt64

  /// A source that is too long or holds control characters is kept as the empty string, and a hash of another
  /// length than 32 as "no validator": neither can then be taken for a match.
  package init(
    id: ManifestID, created: Int, grid: ChunkGrid, source: String,
    validatorKind: ValidatorKind = .none, validatorHash: [UInt8] = [],
    expectedDigest: ExpectedDigest? = nil, device: UInt64 = 0, inode: UInt64 = 0
  ) {
    let hashed = validatorKind != .none && validatorHash.count == Self.validatorHashBytes
    self.id = id
    self.created = created
    self.grid = grid
    self.source = Self.isStorable(source) ? source : ""
    self.validatorKind = hashed ? validatorKind : .none
    self.validatorHash = hashed ? validatorHash : [UInt8](repeating: 0, count: Self.validatorHashBytes)
    self.expectedDigest = expectedDigest
    self.device = device
    self.inode = inode
  }

  /// The form in which a source is stored and compared: itself, or, where it is longer than 2048 bytes or
  /// holds control characters, `sha256:` and the hash of its UTF-8 in hexadecimal (no URL has that scheme).
  package static func storable(source: String, sha256: ([UInt8]) -> [UInt8]) -> String {
    if isStorable(source) { return source }
    let digits = Array("0123456789abcdef")
    return "sha256:"
      + String(sha256(Array(source.utf8)).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }

  /// Control characters are refused on both ways: what is stored may be shown on a terminal.
  static func isStorable(_ source: String) -> Bool {
    source.utf8.count <= mostSourceBytes
      && source.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
  }
}
