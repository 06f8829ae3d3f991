// SPDX-License-Identifier: Apache-2.0

/// The random name of one generation's manifest: 128 bits, drawn by whoever creates it.
///
/// Both slots and every chunk sum are bound to it, so that nothing of an older manifest, found on a reused
/// block or in a restored sidecar, can speak for this one.
package struct ManifestID: Hashable, Sendable {
  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The seed of the sum of chunk `index`: two equal chunks of one file, or one chunk of two generations,
  /// have different sums, so a chunk at the wrong place proves nothing.
  package func seed(forChunk index: Int) -> UInt64 {
    Self.mix(high &+ Self.mix(low ^ Self.mix(UInt64(truncatingIfNeeded: index))))
  }

  /// The finaliser of SplitMix64: a bijection in which every input bit reaches every output bit.
  private static func mix(_ value: UInt64) -> UInt64 {
    var mixed = value &+ 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// The sums of chunks: XXH3-64 with ``ManifestID/seed(forChunk:)``, stored as 64 bits.
package enum ChunkSum {
  /// What stands in place of a sum that is not known.
  package static let none: UInt64 = 0

  /// The stored form of a hash: 0 is taken by "no sum", so a hash of 0 is stored as 1.
  package static func normalised(_ raw: UInt64) -> UInt64 { raw == none ? 1 : raw }
}
