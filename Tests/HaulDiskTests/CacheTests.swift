// SPDX-License-Identifier: Apache-2.0

import HaulCore
import HaulPlatform
import Testing

@testable import HaulDisk

/// Files that are too long for memory leave the page cache behind the digest.
@Suite struct CacheTests {
  let shop: Workshop
  let content = Workshop.content(6 * Workshop.chunkSize)
  init() throws { shop = try Workshop() }

  private var drops: [String] { shop.disk.log.filter { $0.hasPrefix("drop") } }

  private func start(sync: Bool = true) throws -> PartFile {
    shop.disk.script.withLock { $0.longestCached = content.count - 1 }
    return try shop.start(content, sync: sync)
  }

  @Test func `what is synced is asked for once, what is not a second time`() {
    var synced = CacheTrail()
    #expect(synced.release(upTo: 0, synced: true) == nil)
    #expect(synced.release(upTo: 10, synced: true) == ByteRange(0, 10))
    #expect(synced.release(upTo: 10, synced: true) == nil)
    #expect(synced.release(upTo: 5, synced: true) == nil, "a frontier that went back")
    #expect(synced.release(upTo: 30, synced: true) == ByteRange(10, 30))
    var dirty = CacheTrail()
    #expect(dirty.release(upTo: 10, synced: false) == ByteRange(0, 10))
    #expect(dirty.release(upTo: 30, synced: false) == ByteRange(0, 30))
    #expect(dirty.release(upTo: 40, synced: false) == ByteRange(10, 40))
  }

  @Test func `a long file leaves the cache after the commit, as far as it is whole`() throws {
    let part = try start()
    defer { part.close() }
    try part.put(content, chunks: [0, 1, 3])
    _ = try part.commit(.periodic)
    #expect(shop.disk.log.last == "drop 0..<8192 of part", "after the sync, and not beyond the gap")
    try part.put(content, chunks: [2])
    _ = try part.commit(.periodic)
    #expect(drops == ["drop 0..<8192 of part", "drop 8192..<16384 of part"])
  }

  @Test func `what the digest has not read stays`() throws {
    let part = try start()
    defer { part.close() }
    try part.put(content, chunks: [0, 1, 2, 3])
    #expect(part.waitForFrontier(beyond: 4096, generation: 0) == .ready(upTo: 16384))
    _ = try part.commit(.periodic)
    #expect(drops == ["drop 0..<4096 of part"])
  }

  @Test func `a file that fits stays in the cache`() throws {
    shop.disk.script.withLock { $0.longestCached = content.count }
    let part = try shop.start(content)
    defer { part.close() }
    try part.put(content, chunks: [0, 1])
    _ = try part.commit(.periodic)
    #expect(drops.isEmpty)
  }

  @Test func `a new generation begins a new trail`() throws {
    let part = try start()
    defer { part.close() }
    try part.put(content, chunks: [0, 1])
    _ = try part.commit(.periodic)
    try part.clear(mismatch: true)
    try part.put(content, chunks: [0], generation: 1)
    _ = try part.commit(.periodic)
    #expect(drops.last == "drop 0..<4096 of part")
  }

  @Test func `a filesystem that cannot do it loses nothing`() throws {
    let part = try start()
    defer { part.close() }
    shop.disk.fail("drop", with: 22)
    try part.put(content, chunks: [0, 1, 2, 3, 4, 5])
    #expect(try part.commit(.periodic) == CommitResult(durableBytes: content.count, wrote: true))
    try part.finish(mode: nil, modified: nil, overwrite: false)
    #expect(shop.contents(shop.finalPath) == content)
  }
}
