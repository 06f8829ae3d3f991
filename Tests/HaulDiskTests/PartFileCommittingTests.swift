// SPDX-License-Identifier: Apache-2.0

import Foundation
import HaulCore
import HaulPlatform
import Testing

@testable import HaulDisk

@Suite struct PartFileCommittingTests {
  let shop: Workshop
  let content = Workshop.content(5 * Workshop.chunkSize + 100)
  init() throws { shop = try Workshop() }

  private var syncs: [String] { shop.disk.log.filter { $0.contains("sync") } }

  @Test func `the first commit creates the manifest, then syncs data, manifest and directory in that order`()
    throws
  {
    let part = try shop.start(content)
    defer { part.close() }
    try part.put(content, chunks: [0, 2])
    shop.disk.forgetLog()
    #expect(try part.commit(.periodic) == CommitResult(durableBytes: 8192, wrote: true))
    #expect(
      shop.disk.log == [
        "create manifest", "reserve manifest", "write manifest", "write manifest",  // both headers
        "write manifest", "write manifest",  // two runs of sums
        "fsync part", "write manifest", "sync manifest", "sync directory",
      ])
  }

  @Test func `a later commit syncs the data before it writes the slot, and the slot after`() throws {
    let part = try shop.start(content)
    defer { part.close() }
    try part.put(content, chunks: [0])
    _ = try part.commit(.periodic)
    shop.disk.forgetLog()
    try part.put(content, chunks: [1])
    #expect(shop.disk.log == ["write part", "write manifest"], "bytes first, then their sum")
    shop.disk.forgetLog()
    _ = try part.commit(.periodic)
    #expect(shop.disk.log == ["sync part", "write manifest", "sync manifest"])
  }

  @Test func `a commit with nothing new does nothing`() throws {
    let part = try shop.start(content)
    defer { part.close() }
    #expect(try part.commit(.periodic).wrote == false)
    #expect(shop.names == ["file.bin.haul-part"])
    try part.put(content, 0..<5000)
    _ = try part.commit(.periodic)
    shop.disk.forgetLog()
    #expect(try part.commit(.periodic) == CommitResult(durableBytes: 4096, wrote: false))
    #expect(shop.disk.log.isEmpty)
  }

  @Test func `what was committed is there after a new open`() throws {
    let part = try shop.start(content)
    try part.put(content, chunks: [0, 1, 4])
    _ = try part.commit(.periodic)
    part.close()
    let again = try shop.open()
    let resume = try #require(again.resume)
    #expect(resume.marked.runs(of: true) == [0..<2, 4..<5])
    #expect(resume.rescuable == [])
    #expect(resume.header.source == "https://example.org/file.bin")
    shop.disk.forgetLog()
    try again.begin(grid: nil, header: nil, adopt: true)
    #expect(
      shop.disk.log == ["sync manifest", "sync directory"], "the last slot may be in the page cache only")
    try again.reserve()
    #expect(
      again.snapshot()
        == PartSnapshot(
          writtenBytes: 12_288, frontier: 8192, durableBytes: 12_288, writtenChunks: 3, generation: 0,
          hasManifest: true))
    try again.put(content, 0..<content.count)
    try again.finish(mode: nil, modified: nil, overwrite: false)
    again.close()
    #expect(shop.contents(shop.finalPath) == content)
  }

  @Test func `a clean stop keeps prefixes, and a damaged one is dropped`() throws {
    let part = try shop.start(content)
    try part.put(content, 0..<5000)
    try part.put(content, 8192..<9000)
    try part.put(content, 13_000..<14_000)
    #expect(try part.commit(.stop).durableBytes == 5000 + 808)
    part.close()
    try shop.patch(shop.partPath, at: 8200, with: [content[8200] ^ 1])
    let again = try shop.open()
    defer { again.close() }
    let resume = try #require(again.resume)
    #expect(resume.flags == .cleanStop)
    #expect(resume.prefixes.map(\.chunk) == [1])
    #expect(resume.prefixes.map(\.length) == [904])
    try again.begin(grid: nil, header: nil, adopt: true)
    #expect(again.snapshot().frontier == 5000)
    try again.put(content, 0..<content.count)
    #expect(shop.contents(shop.partPath) == content)
  }

  /// Each sync of a first and a later commit fails once.
  @Test(arguments: ["fsync part", "sync part", "sync manifest", "sync directory"])
  func `a failed sync poisons, and the good slot stays`(_ step: String) throws {
    let part = try shop.start(content)
    try part.put(content, chunks: [0])
    if step == "sync part" || step == "sync manifest" { _ = try part.commit(.periodic) }
    let good = shop.contents(shop.manifestPath)
    try part.put(content, chunks: [1])
    shop.disk.fail(step, with: EIO)
    #expect(kind { () throws(DiskError) in _ = try part.commit(.periodic) } == .io)
    shop.disk.heal()
    shop.disk.forgetLog()
    #expect(kind { () throws(DiskError) in _ = try part.commit(.periodic) } == .poisoned)
    #expect(
      kind { () throws(DiskError) in try part.finish(mode: nil, modified: nil, overwrite: false) }
        == .poisoned)
    #expect(kind { () throws(DiskError) in try part.clear(mismatch: false) } == .poisoned)
    #expect(shop.disk.log.isEmpty, "nothing is tried again on that descriptor")
    #expect(part.snapshot().durableBytes == (good == nil ? 0 : 4096))
    part.close()
    guard let good else { return }
    // Slot A starts behind two headers and one page of sums; slot B behind it.
    let slot = ManifestLayout(Workshop.header(length: content.count).grid).slotOffsets
    #expect(shop.contents(shop.manifestPath)?[slot[0]..<slot[1]] == good[slot[0]..<slot[1]])
  }

  @Test func `no-sync makes no sync call, and its bits count only by their sums`() throws {
    let part = try shop.start(content, sync: false)
    try part.put(content, chunks: [0, 1])
    #expect(try part.commit(.periodic) == CommitResult(durableBytes: 0, wrote: true))
    try part.put(content, chunks: [2])
    _ = try part.commit(.stop)
    try part.distrust([2])
    #expect(syncs == [])
    part.close()
    let again = try shop.open()
    defer { again.close() }
    let resume = try #require(again.resume)
    #expect(resume.flags.contains(.notSynced))
    #expect(resume.marked.setCount == 0)
    #expect(resume.rescuable == [0, 1])
  }

  @Test func `no-sync finishes without a sync`() throws {
    let part = try shop.start(content, sync: false)
    try part.put(content, 0..<content.count)
    _ = try part.commit(.periodic)
    try part.finish(mode: 0o644, modified: 5, overwrite: false)
    part.close()
    #expect(syncs == [])
    #expect(shop.names == ["file.bin"])
  }

  @Test func `a full disk refuses the manifest and leaves none behind`() throws {
    let part = try shop.start(content)
    defer { part.close() }
    try part.put(content, chunks: [0])
    shop.disk.fail("reserve manifest", with: ENOSPC)
    #expect(kind { () throws(DiskError) in _ = try part.commit(.periodic) } == .noSpace)
    #expect(shop.names == ["file.bin.haul-part"])
    shop.disk.heal()
    #expect(try part.commit(.periodic).durableBytes == 4096)
  }

  @Test func `a stranger's file at the manifest's name is not taken over by a commit`() throws {
    let part = try shop.start(content)
    defer { part.close() }
    try shop.put([1], at: shop.manifestPath)
    try part.put(content, chunks: [0])
    #expect(kind { () throws(DiskError) in _ = try part.commit(.periodic) } == .foreign)
    #expect(shop.contents(shop.manifestPath) == [1])
  }

  @Test func `two unreadable slots leave the sums, and a resume proves chunks by them`() throws {
    let part = try shop.start(content)
    try part.put(content, chunks: [0, 3])
    _ = try part.commit(.periodic)
    part.close()
    for offset in ManifestLayout(Workshop.header(length: content.count).grid).slotOffsets {
      try shop.patch(shop.manifestPath, at: offset + 30, with: [0xff, 0xff])
    }
    let again = try shop.open()
    defer { again.close() }
    #expect(again.resume?.marked.setCount == 0)
    #expect(again.resume?.rescuable == [0, 3])
  }

  @Test func `a plan of one tebibyte is saved and loaded by its size, not by its bytes`() throws {
    let began = ContinuousClock.now
    let grid = ChunkGrid(length: 1 << 40)
    let header = ManifestHeader(id: ManifestID(high: 3, low: 4), created: 0, grid: grid, source: "")
    shop.disk.script.withLock { $0.free = .max }
    shop.disk.fail { $0 == "reserve part" ? EOPNOTSUPP : nil }
    let part = try shop.open()
    try part.begin(grid: grid, header: header, adopt: false)
    try part.reserve()
    let chunk = [UInt8](repeating: 5, count: grid.chunkSize)
    for index in [0, grid.count - 1] {
      try chunk.withUnsafeBufferPointer { (buffer) throws(DiskError) in
        try part.write(UnsafeRawBufferPointer(buffer), at: index * grid.chunkSize, generation: 0)
      }
    }
    #expect(try part.commit(.periodic).durableBytes == 2 << 20)
    part.close()
    let layout = ManifestLayout(grid)
    #expect(layout.slotSize == 147_456)
    #expect(layout.totalSize == 8192 + (8 << 20) + 2 * 147_456)
    let again = try shop.open()
    defer { again.close() }
    #expect(again.resume?.marked.runs(of: true) == [0..<1, (grid.count - 1)..<grid.count])
    print("1 TiB: planned, saved and loaded in \(ContinuousClock.now - began)")
  }
}
