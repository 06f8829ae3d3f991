// SPDX-License-Identifier: Apache-2.0

/// What a manifest says, after choosing between its copies.
package struct ManifestState: Equatable, Sendable {
  package let header: ManifestHeader
  /// The newest valid slot; nil where none counts, and then only chunk sums do.
  package let slot: ManifestSlot?
  /// Where `slot` stands (0 or 1). The next state goes to the other place.
  package let position: Int?
  /// The flags that hold even where no slot counts (``ManifestSlot/Flags/mismatch`` of either slot).
  package let flags: ManifestSlot.Flags
  /// The sequence of the next state: above that of every valid slot.
  package let nextSequence: UInt64

  /// The header out of its two copies, which stand one after the other in `pages`.
  ///
  /// The first valid copy counts. Where none is valid: a later format is reported before damage, and damage
  /// before a stranger's file, so that one torn page does not turn ours into a stranger's.
  package static func header(
    in pages: [UInt8], codec: ManifestCodec
  ) throws(ManifestError) -> ManifestHeader {
    var failure = ManifestError.notOurs
    for offset in ManifestLayout.headerOffsets where offset < pages.count {
      do {
        return try codec.decodeHeader(
          Array(pages[offset..<min(offset + ManifestLayout.pageSize, pages.count)]))
      } catch {
        switch (error, failure) {
        case (.newerVersion, _), (.damaged, .notOurs): failure = error
        default: break
        }
      }
    }
    throw failure
  }

  /// The state out of both slots: the highest valid sequence counts, where that slot is not valid the other.
  ///
  /// Two valid slots with one sequence were not written by this protocol: neither counts.
  package static func choose(
    header: ManifestHeader, slots: [[UInt8]], codec: ManifestCodec
  ) -> ManifestState {
    let valid = slots.prefix(2).map { try? codec.decodeSlot($0, id: header.id, grid: header.grid) }
    let newest = valid.compactMap { $0?.sequence }.max()
    let winners = valid.indices.filter { valid[$0]?.sequence == newest && newest != nil }
    let winner = winners.count == 1 ? winners[0] : nil
    let slot = winner.flatMap { valid[$0] }
    let kept = valid.compactMap { $0 }.contains { $0.flags.contains(.mismatch) }
    return ManifestState(
      header: header, slot: slot, position: winner,
      flags: slot?.flags ?? (kept ? .mismatch : []),
      nextSequence: (newest ?? 0) + 1)
  }
}
