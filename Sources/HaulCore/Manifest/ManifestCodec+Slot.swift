// SPDX-License-Identifier: Apache-2.0

extension ManifestCodec {
  /// Byte offsets inside a slot; the places of prefixes, bitmap and hash are in ``ManifestLayout``.
  private enum Field {
    static let id = 8
    static let sequence = 24
    static let flags = 32
    static let prefixCount = 36
    static let wordCount = 40
    static let reserved = 48..<64
  }

  /// The bytes of a whole slot. Prefixes without a clean stop, and those past the 512th, are left out: they
  /// are a saving, never needed.
  /// - Precondition: the bitmap has as many bits as the grid has chunks.
  package func encode(_ slot: ManifestSlot, id: ManifestID, grid: ChunkGrid) -> [UInt8] {
    precondition(slot.bitmap.count == grid.count, "a bitmap of another grid")
    let layout = ManifestLayout(grid)
    let prefixes = slot.flags.contains(.cleanStop) ? slot.prefixes.prefix(ManifestSlot.mostPrefixes) : []
    var bytes = [UInt8](repeating: 0, count: layout.slotSize)
    bytes.put(Self.slotMagic, at: 0)
    bytes.put(id.high, at: Field.id)
    bytes.put(id.low, at: Field.id + 8)
    bytes.put(slot.sequence, at: Field.sequence)
    bytes.put(slot.flags.rawValue, at: Field.flags)
    bytes.put(UInt32(prefixes.count), at: Field.prefixCount)
    bytes.put(UInt64(slot.bitmap.words.count), at: Field.wordCount)
    for (position, prefix) in prefixes.enumerated() {
      let offset = ManifestLayout.prefixesOffset + position * ManifestLayout.prefixSize
      bytes.put(UInt64(prefix.chunk), at: offset)
      bytes.put(UInt64(prefix.length), at: offset + 8)
      bytes.put(prefix.sum, at: offset + 16)
    }
    for (position, word) in slot.bitmap.words.enumerated() {
      bytes.put(word, at: layout.bitmapOffset + 8 * position)
    }
    seal(&bytes)
    return bytes
  }

  /// Reads a slot back; `.notOurs` is an empty one, or one of another manifest.
  package func decodeSlot(
    _ bytes: [UInt8], id: ManifestID, grid: ChunkGrid
  ) throws(ManifestError) -> ManifestSlot {
    let layout = ManifestLayout(grid)
    guard bytes.hasPrefix(Self.slotMagic) else { throw .notOurs }
    guard bytes.count == layout.slotSize else { throw .damaged("a slot is cut off") }
    guard bytes.get(UInt64.self, at: Field.id) == id.high, bytes.get(UInt64.self, at: Field.id + 8) == id.low
    else { throw .notOurs }
    guard isSealed(bytes) else { throw .damaged("a slot's hash does not match") }
    let sequence = bytes.get(UInt64.self, at: Field.sequence)
    guard (1...ManifestSlot.highestSequence).contains(sequence) else {
      throw .damaged("a sequence is out of bounds")
    }
    let flags = ManifestSlot.Flags(rawValue: bytes.get(UInt32.self, at: Field.flags))
    guard flags.isSubset(of: .known) else { throw .damaged("an unknown flag is set") }
    let end = layout.bitmapOffset + layout.bitmapSize
    guard bytes.isBlank(Field.reserved), bytes.isBlank(end..<bytes.count - ManifestLayout.hashSize) else {
      throw .damaged("a reserved field is used")
    }
    guard bytes.get(UInt64.self, at: Field.wordCount) == UInt64(layout.bitmapSize / 8) else {
      throw .damaged("the bitmap has another size")
    }
    var words: [UInt64] = []
    words.reserveCapacity(layout.bitmapSize / 8)
    for offset in stride(from: layout.bitmapOffset, to: end, by: 8) {
      words.append(bytes.get(UInt64.self, at: offset))
    }
    guard let bitmap = ChunkBitmap(count: grid.count, words: words) else {
      throw .damaged("a bit past the end is set")
    }
    let prefixes = try prefixes(in: bytes, grid: grid, bitmap: bitmap)
    guard prefixes.isEmpty || flags.contains(.cleanStop) else {
      throw .damaged("prefixes without a clean stop")
    }
    return ManifestSlot(sequence: sequence, flags: flags, prefixes: prefixes, bitmap: bitmap)
  }

  private func prefixes(
    in bytes: [UInt8], grid: ChunkGrid, bitmap: ChunkBitmap
  ) throws(ManifestError) -> [ManifestSlot.WrittenPrefix] {
    let count = Int(bytes.get(UInt32.self, at: Field.prefixCount))
    guard count <= ManifestSlot.mostPrefixes else { throw .damaged("too many prefixes") }
    var prefixes: [ManifestSlot.WrittenPrefix] = []
    var offset = ManifestLayout.prefixesOffset
    for _ in 0..<count {
      guard let chunk = Int(exactly: bytes.get(UInt64.self, at: offset)), chunk < grid.count,
        chunk > prefixes.last?.chunk ?? -1, !bitmap[chunk],
        let length = Int(exactly: bytes.get(UInt64.self, at: offset + 8)),
        length > 0, length < grid.range(of: chunk).count
      else { throw .damaged("a prefix is out of bounds") }
      let sum = bytes.get(UInt64.self, at: offset + 16)
      guard sum != ChunkSum.none else { throw .damaged("a prefix without a sum") }
      prefixes.append(ManifestSlot.WrittenPrefix(chunk: chunk, length: length, sum: sum))
      offset += ManifestLayout.prefixSize
    }
    guard bytes.isBlank(offset..<ManifestLayout(grid).bitmapOffset) else {
      throw .damaged("a reserved field is used")
    }
    return prefixes
  }
}
