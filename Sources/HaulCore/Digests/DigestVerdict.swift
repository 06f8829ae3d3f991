// SPDX-License-Identifier: Apache-2.0

/// What the digests of a complete file are worth.
package enum DigestVerdict: Equatable, Sendable {
  /// Equal to one that came from elsewhere: from the user where `field` is nil, else from the server.
  case matches(ExpectedDigest, field: DigestField?)
  /// Another one than was expected.
  case differs(ExpectedDigest, found: [UInt8], field: DigestField?)
  /// There was nothing to compare with.
  case unchecked
  /// The user's digest was not computed, which would be a fault.
  case notComputed(ExpectedDigest)

  /// The user's digest decides alone. Without one the server's does, as far as it was computed.
  package static func judge(
    _ computed: DigestSet, wanted: ExpectedDigest?, declared: DigestLedger
  ) -> DigestVerdict {
    if let wanted {
      guard let found = computed[wanted.algorithm] else { return .notComputed(wanted) }
      return judge(wanted, found, field: nil)
    }
    let algorithms = DigestAlgorithm.allCases.filter { computed[$0] != nil }
    guard let best = declared.best(among: algorithms), let found = computed[best.digest.algorithm] else {
      return .unchecked
    }
    return judge(best.digest, found, field: best.field)
  }

  private static func judge(_ wanted: ExpectedDigest, _ found: [UInt8], field: DigestField?) -> DigestVerdict
  {
    found == wanted.bytes
      ? .matches(wanted, field: field) : .differs(wanted, found: found, field: field)
  }
}
