// SPDX-License-Identifier: Apache-2.0

/// A digest that a whole file must have.
package struct ExpectedDigest: Hashable, Sendable {
  package let algorithm: DigestAlgorithm
  /// As many as the algorithm makes.
  package let bytes: [UInt8]

  /// Nil where the number of bytes is not the algorithm's.
  package init?(_ algorithm: DigestAlgorithm, _ bytes: [UInt8]) {
    guard bytes.count == algorithm.byteCount else { return nil }
    self.algorithm = algorithm
    self.bytes = bytes
  }

  /// Nil where `hex` is not the algorithm's number of hexadecimal digits, in either case.
  package init?(_ algorithm: DigestAlgorithm, hex: String) {
    guard hex.utf8.count == 2 * algorithm.byteCount, let digest = HexDigest(hex: hex) else { return nil }
    self.init(algorithm, digest.bytes)
  }

  /// In lower case.
  package var hex: String { HexDigest(bytes: bytes).hex }

  /// Whether it may stand for the identity of a file: nobody can make another file with it.
  package var isStrong: Bool { !algorithm.isWeak }

  /// Reads `ALGORITHM:HEX`, as `--checksum` takes it.
  package init(text: String) throws(DigestProblem) {
    let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { throw .noAlgorithm }
    let name = String(decoding: parts[0], as: UTF8.self)
    guard let algorithm = DigestAlgorithm(named: name) else { throw .unknown(name) }
    guard let digest = ExpectedDigest(algorithm, hex: String(decoding: parts[1], as: UTF8.self)) else {
      throw .wrongDigits(algorithm)
    }
    self = digest
  }
}

/// Why a text is not a digest that can be compared.
package enum DigestProblem: Error, Equatable, Sendable, CustomStringConvertible {
  case noAlgorithm
  case unknown(String)
  case wrongDigits(DigestAlgorithm)

  package var description: String {
    switch self {
    case .noAlgorithm: "it names no algorithm: write it as sha-256:HEX"
    case .unknown(let name) where DigestAlgorithm.named.contains(FieldText.lowercased(name)):
      "\(name) is not computed by Haul: give a SHA-256, SHA-512, SHA-1 or MD5"
    case .unknown(let name): "there is no algorithm \(name): use sha-256, sha-512, sha-1 or md5"
    case .wrongDigits(let algorithm): "a \(algorithm.name) has \(2 * algorithm.byteCount) hexadecimal digits"
    }
  }
}

extension DigestAlgorithm {
  /// Digests that servers and lists give and Haul knows by name only.
  static let named: Set<String> = [
    "crc32", "crc32c", "crc64", "crc64nvme", "sha224", "sha384", "blake2b", "blake3",
  ]
}
