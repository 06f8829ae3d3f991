// SPDX-License-Identifier: Apache-2.0

extension ManifestState {
  /// What a manifest is worth for the data file that is there.
  package struct Account: Equatable, Sendable {
    /// The chunks that a slot vouches for, that have a sum, and that lie inside the data file.
    package var marked: ChunkBitmap
    /// Chunks that no slot vouches for but that have a sum: their content may prove them. Ascending.
    package var provable: [Int]
    /// The beginnings of other chunks that a clean stop has noted, and that lie inside the data file.
    package var prefixes: [ManifestSlot.WrittenPrefix]
  }

  /// - Parameters:
  ///   - sums: one a chunk.
  ///   - isSameFile: whether the data file has the device and the inode that the header names. Bits speak of one
  ///     file on stable storage: of another file, or unsynced, they say nothing; sums still do.
  ///   - size: of the data file, in bytes.
  package func account(sums: [UInt64], isSameFile: Bool, size: Int) -> Account {
    let grid = header.grid
    let trusted = isSameFile && !flags.contains(.notSynced) ? slot : nil
    var account = Account(
      marked: trusted?.bitmap ?? ChunkBitmap(count: grid.count), provable: [], prefixes: [])
    for chunk in 0..<grid.count {
      let hasSum = sums[chunk] != ChunkSum.none && grid.range(of: chunk).upper <= size
      if account.marked[chunk], !hasSum { account.marked[chunk] = false }
      if hasSum, !account.marked[chunk] { account.provable.append(chunk) }
    }
    account.prefixes = (trusted?.prefixes ?? []).filter {
      grid.range(of: $0.chunk).lower + $0.length <= size
    }
    return account
  }
}
