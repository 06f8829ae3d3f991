// SPDX-License-Identifier: Apache-2.0

/// One state of a download: which chunks are there. A manifest holds the last two.
package struct ManifestSlot: Equatable, Sendable {
  package struct Flags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The program stopped in order; only then are there prefixes.
    package static let cleanStop = Flags(rawValue: 1)
    /// The whole file did not have its digest; it must not be finished without a new fetch.
    package static let mismatch = Flags(rawValue: 2)
    /// Nothing was synced before this slot: its bits count for nothing, only chunk sums do.
    package static let notSynced = Flags(rawValue: 4)

    static let known: Flags = [.cleanStop, .mismatch, .notSynced]
  }

  /// The written beginning of a chunk that is not complete.
  package struct WrittenPrefix: Hashable, Sendable {
    package let chunk: Int
    /// In bytes, from the chunk's first; more than 0 and less than the chunk.
    package let length: Int
    /// XXH3-64 over the prefix, seeded as the chunk's own sum, normalised; so that a resume can check it.
    package let sum: UInt64

    package init(chunk: Int, length: Int, sum: UInt64) {
      self.chunk = chunk
      self.length = length
      self.sum = sum
    }
  }

  package static let mostPrefixes = 512
  /// Sequences run from 1; this bound leaves room to count on, and no disk lives to see it.
  package static let highestSequence: UInt64 = 1 << 62

  package var sequence: UInt64
  package var flags: Flags
  /// Ascending by chunk, at most 512; empty unless ``Flags/cleanStop``.
  package var prefixes: [WrittenPrefix]
  package var bitmap: ChunkBitmap

  package init(
    sequence: UInt64, flags: Flags = [], prefixes: [WrittenPrefix] = [], bitmap: ChunkBitmap
  ) {
    self.sequence = sequence
    self.flags = flags
    self.prefixes = prefixes
    self.bitmap = bitmap
  }
}
