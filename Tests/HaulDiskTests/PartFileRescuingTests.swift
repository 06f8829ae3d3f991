// SPDX-License-Identifier: Apache-2.0

import Foundation
import HaulCore
import HaulPlatform
import Testing

@testable import HaulDisk

@Suite struct PartFileRescuingTests {
  let shop: Workshop
  let content = Workshop.content(5 * Workshop.chunkSize + 100)
  init() throws { shop = try Workshop() }

  /// Chunk 0 is marked; 1, 2 and 5 were written after the last commit, as before a kill -9.
  private func leaveKilled() throws {
    let part = try shop.start(content)
    try part.put(content, chunks: [0])
    _ = try part.commit(.periodic)
    try part.put(content, chunks: [1, 2, 5])
    part.close()
  }

  @Test func `chunks that no slot marks are rescued by their content`() throws {
    try leaveKilled()
    try shop.patch(shop.partPath, at: 8192 + 17, with: [content[8192 + 17] ^ 0x80])
    let part = try shop.open()
    defer { part.close() }
    #expect(part.resume?.marked.setCount == 1)
    #expect(part.resume?.rescuable == [1, 2, 5])
    try part.begin(grid: nil, header: nil, adopt: true)
    shop.disk.forgetLog()
    try part.prepareRescue()
    #expect(shop.disk.log == ["fsync part", "drop part"], "what is proven has to come from the disk")
    let proven = try [1, 2, 5].filter(part.proveRescuable)
    #expect(proven == [1, 5])
    #expect(part.snapshot().writtenChunks == 1)
    part.confirmRescued(proven)
    #expect(part.snapshot().frontier == 8192)
    #expect(part.snapshot().durableBytes == 4096, "proven is written, not yet durable")
    #expect(try part.commit(.periodic).durableBytes == 8192 + 100)
    #expect(
      part.state.withLock { $0.written.gaps(in: ByteRange(0, content.count)) } == [ByteRange(8192, 20_480)])
  }

  @Test func `a manifest that was created but has no slot still rescues`() throws {
    let part = try shop.start(content)
    try part.put(content, chunks: [0, 1])
    shop.disk.fail("fsync part", with: EIO)
    #expect(kind { () throws(DiskError) in _ = try part.commit(.periodic) } == .io)
    part.close()
    shop.disk.heal()
    let again = try shop.open()
    defer { again.close() }
    #expect(again.resume?.marked.setCount == 0)
    #expect(again.resume?.rescuable == [0, 1])
  }

  @Test func `a data file on another inode is checked by its sums`() throws {
    try leaveKilled()
    let bytes = try #require(shop.contents(shop.partPath))
    // The copy is made while the first is there, so that it cannot get the same inode.
    try shop.put(bytes, at: shop.folder + "/copy")
    try #require(rename(shop.folder + "/copy", shop.partPath) == 0)
    let part = try shop.open()
    #expect(part.resume?.marked.setCount == 0)
    #expect(part.resume?.rescuable == [0, 1, 2, 5])
    try part.begin(grid: nil, header: nil, adopt: true)
    try part.prepareRescue()
    part.confirmRescued([0, 1, 2, 5])
    _ = try part.commit(.periodic)
    part.close()
    let again = try shop.open()
    defer { again.close() }
    #expect(again.resume?.marked.setCount == 4, "the manifest has learned the new inode")
  }

  @Test func `a part that was cut off loses its marks past the end, for good`() throws {
    let part = try shop.start(content)
    try part.put(content, chunks: [0, 1, 2])
    _ = try part.commit(.periodic)
    part.close()
    #expect(truncate(shop.partPath, 9000) == 0)
    let again = try shop.open()
    #expect(again.resume?.marked.runs(of: true) == [0..<2])
    try again.begin(grid: nil, header: nil, adopt: true)
    try again.reserve()
    again.close()
    let third = try shop.open()
    defer { third.close() }
    #expect(third.resume?.marked.runs(of: true) == [0..<2], "zeros of the reserved room are not taken for it")
    #expect(try third.proveRescuable(2) == false)
  }

  @Test func `a distrusted chunk is durably missing before it can be fetched again`() throws {
    let part = try shop.start(content)
    try part.put(content, chunks: [0, 1, 2])
    _ = try part.commit(.periodic)
    shop.disk.forgetLog()
    try part.distrust([1])
    #expect(
      shop.disk.log == [
        "write manifest", "write manifest", "sync manifest", "write manifest", "sync manifest",
      ])
    #expect(part.snapshot().frontier == 4096)
    #expect(part.snapshot().durableBytes == 8192)
    #expect(part.expectedSum(ofChunk: 1) == nil)
    #expect(part.state.withLock { $0.written.gaps(in: ByteRange(0, 12_288)) } == [ByteRange(4096, 8192)])
    for slot in 0..<2 { try expectCleared(slot: slot) }
    try part.put(content, chunks: [1])
    #expect(part.snapshot().frontier == 12_288)
    part.close()
    let again = try shop.open()
    defer { again.close() }
    #expect(again.resume?.marked.runs(of: true) == [0..<1, 2..<3])
    #expect(again.resume?.rescuable == [1])
  }

  private func expectCleared(slot: Int) throws {
    let header = Workshop.header(length: content.count)
    let layout = ManifestLayout(header.grid)
    let bytes = try #require(shop.contents(shop.manifestPath))
    let start = layout.slotOffsets[slot]
    let state = try ManifestCodec.xxh3.decodeSlot(
      Array(bytes[start..<start + layout.slotSize]), id: header.id, grid: header.grid)
    #expect(state.bitmap[1] == false)
    #expect(bytes[layout.sumOffset(ofChunk: 1)..<layout.sumOffset(ofChunk: 2)].allSatisfy { $0 == 0 })
  }

  @Test func `a new generation leaves nothing of the old one`() throws {
    let part = try shop.start(content)
    try part.put(content, chunks: [0, 1, 2])
    _ = try part.commit(.periodic)
    shop.disk.forgetLog()
    try part.clear(mismatch: false)
    #expect(shop.disk.log == ["unlink manifest", "sync directory", "truncate part"])
    #expect(part.snapshot().generation == 1)
    let other = Workshop.content(9000, salt: 3)
    let header = Workshop.header(length: 9000, id: 8)
    try part.begin(grid: header.grid, header: header, adopt: false)
    try part.reserve()
    try part.put(content, 0..<4096, generation: 0)
    try part.put(other, 0..<9000, generation: 1)
    try part.finish(mode: nil, modified: nil, overwrite: false)
    part.close()
    #expect(shop.contents(shop.finalPath) == other)
  }

  @Test(arguments: [true, false])
  func `a mismatch is flagged in both slots and its bits are gone`(_ committed: Bool) throws {
    let part = try shop.start(content)
    try part.put(content, 0..<content.count)
    if committed { _ = try part.commit(.periodic) }
    try part.clear(mismatch: true)
    #expect(part.snapshot().generation == 1)
    #expect(shop.contents(shop.partPath) == content, "the bytes stay until they are overwritten")
    let header = Workshop.header(length: content.count)
    let layout = ManifestLayout(header.grid)
    let bytes = try #require(shop.contents(shop.manifestPath))
    #expect(bytes[layout.sumsOffset..<layout.slotOffsets[0]].allSatisfy { $0 == 0 })
    for start in layout.slotOffsets {
      let slot = try ManifestCodec.xxh3.decodeSlot(
        Array(bytes[start..<start + layout.slotSize]), id: header.id, grid: header.grid)
      #expect(slot.flags == .mismatch)
      #expect(slot.bitmap.setCount == 0)
    }
    try part.put(content, chunks: [0], generation: 1)
    _ = try part.commit(.periodic)
    part.close()
    let again = try shop.open()
    defer { again.close() }
    #expect(again.resume?.flags == .mismatch, "the flag outlives later commits")
    #expect(again.resume?.marked.setCount == 1)
  }

  @Test func `a flagged part that was proven as a whole is finished, and only then loses its flag`() throws {
    let part = try shop.start(content)
    try part.put(content, 0..<content.count)
    try part.clear(mismatch: true)
    part.close()
    let again = try shop.open()
    try again.prepareRescue()
    let manifest = shop.contents(shop.manifestPath)
    shop.disk.forgetLog()
    try again.adoptProven()
    #expect(shop.disk.log == [], "nothing is stored before the file has its name")
    #expect(shop.contents(shop.manifestPath) == manifest)
    #expect(again.snapshot().writtenBytes == content.count)
    try again.finish(mode: nil, modified: nil, overwrite: false)
    again.close()
    #expect(shop.names == ["file.bin"] && shop.contents(shop.finalPath) == content)
    let other = try Workshop()
    let fresh = try other.start(content)
    defer { fresh.close() }
    #expect(kind { () throws(DiskError) in try fresh.adoptProven() } == .incomplete)
  }

  @Test func `a resume under another digest renews both copies of the header, one after the other`() throws {
    let part = try shop.start(content)
    try part.put(content, chunks: [0])
    _ = try part.commit(.stop)
    part.close()
    for digest in [ExpectedDigest(.sha512, [UInt8](repeating: 3, count: 64)), nil] {
      let again = try shop.open()
      var header = try #require(again.resume?.header)
      header.expectedDigest = digest?.stored()
      shop.disk.forgetLog()
      try again.begin(grid: nil, header: header, adopt: true)
      #expect(shop.disk.log.count { $0.contains("write") && $0.contains("manifest") } == 2)
      #expect(again.snapshot().writtenBytes == Workshop.chunkSize)
      again.close()
      let bytes = try #require(shop.contents(shop.manifestPath))
      for offset in ManifestLayout.headerOffsets {
        let page = Array(bytes[offset..<offset + ManifestLayout.pageSize])
        let stored = try ManifestCodec.xxh3.decodeHeader(page).expectedDigest
        #expect(stored == digest?.stored() && stored.flatMap(ExpectedDigest.init(stored:)) == digest)
      }
    }
    let unchanged = try shop.open()
    defer { unchanged.close() }
    shop.disk.forgetLog()
    try unchanged.begin(grid: nil, header: nil, adopt: true)
    #expect(!shop.disk.log.contains { $0.contains("write") }, "\(shop.disk.log)")
  }

  @Test func `starting over throws the resume away durably`() throws {
    try leaveKilled()
    let part = try shop.open()
    defer { part.close() }
    shop.disk.forgetLog()
    try part.begin(grid: nil, header: nil, adopt: false)
    #expect(shop.disk.log == ["unlink manifest", "sync directory", "truncate part"])
    #expect(part.resume == nil)
    #expect(shop.names == ["file.bin.haul-part"])
    #expect(
      kind { () throws(DiskError) in try part.begin(grid: nil, header: nil, adopt: true) } == .incomplete)
  }
}
