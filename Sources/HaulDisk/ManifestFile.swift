// SPDX-License-Identifier: Apache-2.0

internal import HaulCore

/// An open `NAME.haul`. The committer's; the writer stores single sums in it through ``PartState/SumPlace``.
struct ManifestFile {
  let file: DiskFile
  /// As it was when opened: names are checked against its device and inode.
  let identity: FileStatus
  var header: ManifestHeader
  /// The state that counts; an empty one with sequence 0 where none does.
  var committed: ManifestSlot
  /// Where `committed` stands; the next goes to the other place.
  var position: Int
  /// The sequence of the next state.
  var nextSequence: UInt64
  /// True while the disk says what `committed` says: false before the first commit, and where loading found
  /// that the newest slot promises too much.
  var isConfirmed = false

  var layout: ManifestLayout { ManifestLayout(header.grid) }
  var sumPlace: PartState.SumPlace { PartState.SumPlace(file: file, layout: layout) }

  /// Creates the file at its whole size with both headers and no state. Not synced.
  ///
  /// Whole, so that later commits find their room on a full disk.
  static func create(
    _ name: String, in directory: DiskFile, header: ManifestHeader, disk: any DiskOperations
  ) throws(DiskError) -> ManifestFile {
    let file = try disk.createExclusively(name, in: directory)
    do throws(DiskError) {
      let identity = try disk.status(of: file)
      let size = ManifestLayout(header.grid).totalSize
      do throws(DiskError) {
        try disk.preallocate(file, length: size)
      } catch {
        guard error.kind == .unsupported else { throw error }
        try disk.truncate(file, length: size)
      }
      let manifest = ManifestFile(
        file: file, identity: identity, header: header,
        committed: ManifestSlot(sequence: 0, bitmap: ChunkBitmap(count: header.grid.count)),
        position: 1, nextSequence: 1)
      for offset in ManifestLayout.headerOffsets { try manifest.writeHeader(at: offset, disk) }
      return manifest
    } catch {
      try? disk.unlink(name, in: directory)
      try? disk.close(file)
      throw error
    }
  }

  func writeHeader(at offset: Int, _ disk: any DiskOperations) throws(DiskError) {
    try disk.writeFully(ManifestCodec.xxh3.encode(header), to: file, at: offset)
  }

  /// Writes the next state into the place that does not count. It counts from the next sync on.
  mutating func write(
    flags: ManifestSlot.Flags, prefixes: [ManifestSlot.WrittenPrefix] = [], bitmap: ChunkBitmap,
    _ disk: any DiskOperations
  ) throws(DiskError) {
    let slot = ManifestSlot(sequence: nextSequence, flags: flags, prefixes: prefixes, bitmap: bitmap)
    let bytes = ManifestCodec.xxh3.encode(slot, id: header.id, grid: header.grid)
    try disk.writeFully(bytes, to: file, at: layout.slotOffsets[1 - position])
    committed = slot
    position = 1 - position
    nextSequence += 1
  }

  /// Stores all sums that are known, run by run; places without a sum are left as they are, because the
  /// writer may be storing one there at this moment.
  func store(_ sums: [UInt64], _ disk: any DiskOperations) throws(DiskError) {
    var start = 0
    while let first = sums[start...].firstIndex(where: { $0 != ChunkSum.none }) {
      let end = sums[first...].firstIndex(of: ChunkSum.none) ?? sums.count
      try disk.writeFully(littleEndian(sums[first..<end]), to: file, at: layout.sumOffset(ofChunk: first))
      start = end
    }
  }

  /// Erases the sums of some chunks.
  func erase(_ chunks: [Int], _ disk: any DiskOperations) throws(DiskError) {
    for chunk in chunks {
      try disk.writeFully([UInt8](repeating: 0, count: 8), to: file, at: layout.sumOffset(ofChunk: chunk))
    }
  }

  /// Erases every sum.
  func eraseAll(_ disk: any DiskOperations) throws(DiskError) {
    try disk.writeFully([UInt8](repeating: 0, count: layout.sumsSize), to: file, at: layout.sumsOffset)
  }
}

/// Integers as they stand in a file.
func littleEndian(_ values: some Collection<UInt64>) -> [UInt8] {
  var bytes: [UInt8] = []
  bytes.reserveCapacity(8 * values.count)
  for value in values {
    for shift in stride(from: 0, to: 64, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
    }
  }
  return bytes
}
