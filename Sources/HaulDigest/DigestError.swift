// SPDX-License-Identifier: Apache-2.0

package import HaulCore

/// Why a digest could not be computed.
package enum DigestError: Error, Equatable, Sendable, CustomStringConvertible {
  /// libcrypto does not offer the algorithm: its FIPS mode knows no MD5, for one.
  case unsupported(DigestAlgorithm)
  /// The file could not be read at `offset`. `code` is an errno value, or 0 where the file ends there.
  case unreadable(offset: Int, code: Int32)
  /// The file was said to be complete at another length than its own.
  case wrongLength(expected: Int, found: Int)
  /// The chunk did not have its sum, though it was fetched again as often as is worth it.
  case damaged(chunk: Int)

  package var description: String {
    switch self {
    case .unsupported(let algorithm):
      "the installed libcrypto does not offer \(algorithm.name)"
    case .unreadable(let offset, 0):
      "the file ends at byte \(offset), before all of it could be read back"
    case .unreadable(let offset, let code):
      "the file cannot be read back at byte \(offset) (error \(code))"
    case .wrongLength(let expected, let found):
      "the file is complete at \(found) bytes but should have \(expected)"
    case .damaged(let chunk):
      "chunk \(chunk) keeps reading back differently from what was written: suspect the disk or the memory"
    }
  }
}
