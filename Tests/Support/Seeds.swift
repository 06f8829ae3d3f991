// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Which seeds a property test runs. The environment may ask for more of them (`HAUL_SEEDS=10000`), or for the
/// one that failed (`HAUL_SEED=42`).
package struct Seeds: Sendable {
  package let all: Range<UInt64>

  package init(usually count: UInt64) {
    all = Self.number("HAUL_SEED").map { $0..<$0 + 1 } ?? 0..<(Self.number("HAUL_SEEDS") ?? count)
  }

  /// Whether one seed was asked for: then a test may say more of what happens.
  package static let isSingle = number("HAUL_SEED") != nil

  private static func number(_ name: String) -> UInt64? {
    getenv(name).flatMap { UInt64(String(cString: $0)) }
  }
}
