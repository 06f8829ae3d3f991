// SPDX-License-Identifier: Apache-2.0

import Foundation
import HaulCore
import Testing

@testable import HaulDisk

/// Keeps the annotated dump in Docs/manifest-format.md true: it is made anew from a fixed download, and the
/// page must hold the very lines.
@Suite struct ManifestFormatTests {
  /// The whole manifest of a download of 2.5 chunks: two whole chunks by way of a clean stop, and a prefix.
  static func sample() throws -> (bytes: [UInt8], layout: ManifestLayout) {
    let grid = ChunkGrid(length: 5 << 19)
    let id = ManifestID(high: 0x1122_3344_5566_7788, low: 0x99aa_bbcc_ddee_ff00)
    let header = ManifestHeader(
      id: id, created: 1_767_225_600, grid: grid, source: "https://example.org/disk.iso",
      validatorKind: .strongETag, validatorHash: (0..<32).map { 0xa0 + $0 },
      expectedDigest: ManifestHeader.ExpectedDigest(algorithm: 1, bytes: (0..<32).map { 0xd0 + ($0 & 0xf) }),
      device: 0xfe01, inode: 123_456)
    let layout = ManifestLayout(grid)
    var bytes = [UInt8](repeating: 0, count: layout.totalSize)
    let page = ManifestCodec.xxh3.encode(header)
    for offset in ManifestLayout.headerOffsets { bytes.replaceSubrange(offset..<offset + 4096, with: page) }
    func sum(_ chunk: Int, _ count: Int) -> UInt64 {
      [UInt8](repeating: UInt8(chunk + 1), count: count).withUnsafeBytes {
        ChunkSum.normalised(xxh3($0, seed: id.seed(forChunk: chunk)))
      }
    }
    for chunk in 0..<2 {
      let offset = layout.sumOffset(ofChunk: chunk)
      bytes.replaceSubrange(offset..<offset + 8, with: littleEndian([sum(chunk, 1 << 20)]))
    }
    var bitmap = ChunkBitmap(count: grid.count)
    for chunk in 0..<2 { bitmap[chunk] = true }
    let slot = ManifestSlot(
      sequence: 1, flags: .cleanStop,
      prefixes: [ManifestSlot.WrittenPrefix(chunk: 2, length: 300_000, sum: sum(2, 300_000))],
      bitmap: bitmap)
    let encoded = ManifestCodec.xxh3.encode(slot, id: id, grid: grid)
    bytes.replaceSubrange(layout.slotOffsets[0]..<layout.slotOffsets[0] + layout.slotSize, with: encoded)
    return (bytes, layout)
  }

  /// One line a field: offset in the file, bytes, meaning. Zeros that only fill a page are left out.
  static func dump() throws -> String {
    let (bytes, layout) = try sample()
    let (slot, other) = (layout.slotOffsets[0], layout.slotOffsets[1])
    let bitmap = slot + 64 + 512 * 24
    let fields: [(Int, Int, String)] = [
      (0, 8, "magic \"HAULMAN1\""),
      (8, 4, "format version: 1"),
      (12, 4, "reserved, 0"),
      (16, 8, "id, high half"),
      (24, 8, "id, low half"),
      (32, 8, "created: 1767225600 = 2026-01-01 00:00:00 UTC"),
      (40, 8, "length: 2621440 bytes"),
      (48, 8, "chunk size: 1048576 bytes"),
      (56, 8, "chunk count: 3"),
      (64, 8, "data file: device"),
      (72, 8, "data file: inode 123456"),
      (80, 1, "validator kind: 1, a strong ETag"),
      (81, 1, "digest algorithm: 1, SHA-256"),
      (82, 1, "digest length: 32 bytes"),
      (83, 1, "reserved, 0"),
      (84, 4, "source length: 28 bytes"),
      (88, 16, "SHA-256 of the validator"),
      (104, 16, "  its second half"),
      (120, 16, "expected digest"),
      (136, 16, "  its second half (room for 64 bytes)"),
      (184, 8, "place: the source itself"),
      (192, 16, "source, \"https://example.\""),
      (208, 12, "  \"org/disk.iso\" (room for 2048 bytes)"),
      (4088, 8, "XXH3-64 of bytes 0 to 4087"),
      (4096, 8, "the second copy of the header page"),
      (8184, 8, "  its hash"),
      (8192, 8, "sum of chunk 0"),
      (8200, 8, "sum of chunk 1"),
      (8208, 8, "sum of chunk 2: none yet"),
      (slot, 8, "slot A: magic \"HAULSLT1\""),
      (slot + 8, 8, "  id, high half"),
      (slot + 16, 8, "  id, low half"),
      (slot + 24, 8, "  sequence: 1"),
      (slot + 32, 4, "  flags: 1 clean stop"),
      (slot + 36, 4, "  prefix count: 1"),
      (slot + 40, 8, "  bitmap size: 1 word of 64 bits"),
      (slot + 48, 16, "  reserved, 0"),
      (slot + 64, 8, "  prefix 0: chunk 2"),
      (slot + 72, 8, "    300000 bytes from its first"),
      (slot + 80, 8, "    their sum"),
      (bitmap, 8, "  bitmap: chunks 0 and 1"),
      (other - 8, 8, "  XXH3-64 of the slot before it"),
      (other, 8, "slot B: never written"),
      (layout.totalSize - 8, 8, "  the last bytes of the file"),
    ]
    return fields.map { offset, count, meaning in
      let place = String(format: "%06x", offset)
      let hex = bytes[offset..<offset + count].map { String(format: "%02x", $0) }.joined(separator: " ")
      return "\(place)  \(hex.padding(toLength: 47, withPad: " ", startingAt: 0))  \(meaning)"
    }.joined(separator: "\n")
  }

  @Test func `the dump in the manual is what the code writes`() throws {
    let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Docs/manifest-format.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let dump = try Self.dump()
    #expect(text.contains("```\n\(dump)\n```"), "the dump has to read:\n\(dump)")
  }

  @Test func `the sample of the manual is a manifest that loads`() throws {
    let (bytes, layout) = try Self.sample()
    let header = try ManifestState.header(in: Array(bytes.prefix(ManifestLayout.headerSize)), codec: .xxh3)
    let slots = layout.slotOffsets.map { Array(bytes[$0..<$0 + layout.slotSize]) }
    let state = ManifestState.choose(header: header, slots: slots, codec: .xxh3)
    #expect(state.slot?.bitmap.setCount == 2)
    #expect(state.slot?.prefixes.first?.length == 300_000)
    #expect(bytes.count == 45_056)
  }
}
