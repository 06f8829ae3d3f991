// SPDX-License-Identifier: Apache-2.0

/// How well the parts of one generation can be told from another's, best first.
package enum Tier: Hashable, Sendable {
  /// A: a strong ETag.
  case strongETag
  /// B: no strong ETag, but a Last-Modified that is strong.
  case strongDate
  /// C: no strong validator, but a digest from elsewhere decides in the end.
  case digest
  /// D: nothing. Parts may be combined within one run only, while all that is known stays the same.
  case none

  /// Whether parts of an earlier run may be completed by a later one.
  package var canResume: Bool { self != .none }
}
