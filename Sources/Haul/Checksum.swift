// SPDX-License-Identifier: Apache-2.0

package import HaulCore

/// A digest that a file must have.
public struct Checksum: Sendable, Hashable {
  /// How it was made.
  public enum Algorithm: String, Sendable, CaseIterable {
    /// 64 hexadecimal digits.
    case sha256
    /// 128 hexadecimal digits.
    case sha512
    /// 40 hexadecimal digits. Weak: a match rules out accidents, not forgery.
    case sha1
    /// 32 hexadecimal digits. Weak: a match rules out accidents, not forgery.
    case md5
  }

  /// How it was made.
  public var algorithm: Algorithm
  /// Hexadecimal digits in either case.
  public var hex: String

  /// Nothing is checked here: ``Downloader/start(_:)`` reports what is wrong.
  public init(_ algorithm: Algorithm, hex: String) {
    self.algorithm = algorithm
    self.hex = hex
  }

  package init(_ digest: ExpectedDigest) {
    self.init(Algorithm(digest.algorithm), hex: digest.hex)
  }

  /// Nil where the digits are not the algorithm's.
  package var expected: ExpectedDigest? { ExpectedDigest(algorithm.core, hex: hex) }
}

extension Checksum.Algorithm {
  package init(_ algorithm: DigestAlgorithm) {
    switch algorithm {
    case .sha256: self = .sha256
    case .sha512: self = .sha512
    case .sha1: self = .sha1
    case .md5: self = .md5
    }
  }

  package var core: DigestAlgorithm {
    switch self {
    case .sha256: .sha256
    case .sha512: .sha512
    case .sha1: .sha1
    case .md5: .md5
    }
  }
}
