// SPDX-License-Identifier: Apache-2.0

/// A digest of a whole file.
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
}
