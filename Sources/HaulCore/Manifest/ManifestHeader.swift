// SPDX-License-Identifier: Apache-2.0

/// The identity of one generation, as it stands in both header pages of a manifest.
package struct ManifestHeader: Equatable, Sendable {
  /// What the server's validator was. Raw values are the stored ones.
  package enum ValidatorKind: UInt8, Sendable {
    case none = 0
    case strongETag = 1
    case lastModified = 2
  }

  /// A digest that the finished file must have. `algorithm` is the stored code.
  package struct ExpectedDigest: Equatable, Sendable {
    /// 1 SHA-256, 2 SHA-512, 3 SHA-1, 4 MD5, and 128 more where the server has declared it; others are kept
    /// as they are.
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
  package private(set) var source: String
  /// Where the source has led to, as a hash; 0 where it was that place itself. See ``place(_:of:sha256:)``.
  package private(set) var place: UInt64
  package private(set) var validatorKind: ValidatorKind
  /// SHA-256 of the validator: 32 bytes, all 0 where there is none.
  package private(set) var validatorHash: [UInt8]
  /// May be replaced by a later run: who has brought a wrong one may correct it.
  package var expectedDigest: ExpectedDigest?
  /// The data file as stat(2) named it when the manifest was created.
  package var device: UInt64
  package var inode: UInt64

  /// A source that is too long or holds control characters is kept as the empty string, and a hash of another
  /// length than 32 as "no validator": neither can then be taken for a match.
  package init(
    id: ManifestID, created: Int, grid: ChunkGrid, source: String, place: UInt64 = 0,
    validatorKind: ValidatorKind = .none, validatorHash: [UInt8] = [],
    expectedDigest: ExpectedDigest? = nil, device: UInt64 = 0, inode: UInt64 = 0
  ) {
    let hashed = validatorKind != .none && validatorHash.count == Self.validatorHashBytes
    self.id = id
    self.created = created
    self.grid = grid
    self.source = Self.isStorable(source) ? source : ""
    self.place = place
    self.validatorKind = hashed ? validatorKind : .none
    self.validatorHash = hashed ? validatorHash : [UInt8](repeating: 0, count: Self.validatorHashBytes)
    self.expectedDigest = expectedDigest
    self.device = device
    self.inode = inode
  }

  /// Takes over from `other` what may change while the generation stays: the source from which it is gone on,
  /// with its validator, and the digest that is expected.
  package mutating func renew(from other: ManifestHeader) {
    (source, place) = (other.source, other.place)
    (validatorKind, validatorHash) = (other.validatorKind, other.validatorHash)
    expectedDigest = other.expectedDigest
  }

  /// Names another source, which was found to have the same bytes, and its validator for them.
  package mutating func move(
    to source: String, place: UInt64, validatorKind: ValidatorKind, validatorHash: [UInt8]
  ) {
    renew(
      from: ManifestHeader(
        id: id, created: created, grid: grid, source: source, place: place, validatorKind: validatorKind,
        validatorHash: validatorHash, expectedDigest: expectedDigest))
  }

  /// The form in which a place is stored and compared: the first 8 bytes of its hash, never 0; but 0 where it
  /// is the source itself.
  package static func place(_ place: String, of source: String, sha256: ([UInt8]) -> [UInt8]) -> UInt64 {
    if place == source { return 0 }
    return max(1, sha256(Array(place.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
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
