// SPDX-License-Identifier: Apache-2.0

import HaulCore
import HaulDisk

extension FuzzTarget {
  /// A header page whose hash is right: only the other checks stand between it and the program.
  static let manifestHeader = FuzzTarget("manifest-header", mostBytes: 2300) { input in
    var page = Array(input.prefix(ManifestLayout.pageSize))
    page += [UInt8](repeating: 0, count: ManifestLayout.pageSize - page.count)
    seal(&page)
    guard let header = try? ManifestCodec.xxh3.decodeHeader(page) else { return }
    try insist(ManifestCodec.xxh3.encode(header) == page, "a header is written differently")
    try insist(header.grid.count <= ChunkGrid.mostChunks, "\(header.grid.count) chunks")
    try insist(header.source.utf8.count <= ManifestHeader.mostSourceBytes, "a long source")
    try insist(!header.source.unicodeScalars.contains(where: isControl), "a source that acts on a terminal")
    let layout = ManifestLayout(header.grid)
    try insist(layout.totalSize < 16 << 20, "a manifest of \(layout.totalSize) bytes")
    guard header.grid.count > 0 else { return }
    try insist(header.grid.range(of: header.grid.count - 1).upper == header.grid.length, "a grid with a rest")
  }

  /// A slot whose hash is right, of a grid that the input chooses.
  static let manifestSlot = FuzzTarget("manifest-slot", mostBytes: 1024) { input in
    var reader = InputReader(input)
    let chunkSize = 1 << (12 + Int(reader.byte()) % 31)
    let grid = ChunkGrid(length: Int(reader.word() >> UInt64(2 + reader.byte() % 60)), chunkSize: chunkSize)
    guard grid.count <= 1 << 16 else { return }
    let layout = ManifestLayout(grid)
    let id = ManifestID(high: 1, low: 2)
    // What comes before the prefixes, the prefixes, and the bitmap behind the room for all of them.
    var slot = Array(reader.bytes(64))
    slot += reader.bytes(24 * (Int(reader.byte()) % 8))
    slot += [UInt8](repeating: 0, count: max(0, 64 + 512 * 24 - slot.count))
    slot += reader.rest
    slot = Array(slot.prefix(layout.slotSize))
    slot += [UInt8](repeating: 0, count: layout.slotSize - slot.count)
    seal(&slot)
    guard let decoded = try? ManifestCodec.xxh3.decodeSlot(slot, id: id, grid: grid) else { return }
    try insist(
      ManifestCodec.xxh3.encode(decoded, id: id, grid: grid) == slot, "a slot is written differently")
    try insist(decoded.bitmap.count == grid.count, "a bitmap of another file")
    for prefix in decoded.prefixes {
      try insist(
        prefix.length > 0 && prefix.length < grid.range(of: prefix.chunk).count
          && !decoded.bitmap[prefix.chunk],
        "\(prefix) in \(grid)")
    }
  }

  /// A sidecar on a disk beside a data file of a few bytes, with its hashes made right or left as they are.
  static let manifestFile = FuzzTarget("manifest-file") { try ManifestFileCheck($0).run() }

  /// The last eight bytes become the hash of all before them, as XXH3-64 gives it.
  static func seal(_ bytes: inout [UInt8]) {
    let hash = bytes.dropLast(8).withUnsafeBytes { ManifestCodec.xxh3.hash(UnsafeRawBufferPointer($0)) }
    for index in 0..<8 {
      bytes[bytes.count - 8 + index] = UInt8(truncatingIfNeeded: hash >> UInt64(8 * index))
    }
  }
}
