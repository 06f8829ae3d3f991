// SPDX-License-Identifier: Apache-2.0

/// A digest of a whole file that Haul can compute.
package enum DigestAlgorithm: String, CaseIterable, Sendable {
  case sha256, sha512, sha1, md5

  package var byteCount: Int {
    switch self {
    case .sha256: 32
    case .sha512: 64
    case .sha1: 20
    case .md5: 16
    }
  }

  /// For people.
  package var name: String {
    switch self {
    case .sha256: "SHA-256"
    case .sha512: "SHA-512"
    case .sha1: "SHA-1"
    case .md5: "MD5"
    }
  }

  /// Whether somebody could make two files with one digest: a match then rules out accidents only.
  package var isWeak: Bool { self == .sha1 || self == .md5 }

  /// Reads a name as people and checksum files write it: `sha256`, `SHA-256`, `MD5`. Nil for any other.
  package init?(named name: some StringProtocol) {
    let letters = FieldText.lowercased(name).utf8.filter { $0 != UInt8(ascii: "-") }
    self.init(rawValue: String(decoding: letters, as: UTF8.self))
  }

  /// The only one whose digests have so many bytes.
  package init?(byteCount: Int) {
    guard let found = Self.allCases.first(where: { $0.byteCount == byteCount }) else { return nil }
    self = found
  }
}
