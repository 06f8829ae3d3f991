// SPDX-License-Identifier: Apache-2.0

import Foundation
import HaulCore
import HaulPlatform
import Testing

@testable import HaulDisk

@Suite struct PartFileWritingTests {
  let shop: Workshop
  let content = Workshop.content(3 * Workshop.chunkSize + 100)
  init() throws { shop = try Workshop() }

  private func whole(_ part: PartFile) -> Bool { part.snapshot().writtenBytes == content.count }

  @Test(arguments: [1, 7, 1000, 4096, 5000, 12_388])
  func `pieces of any size in order give the file and its sums`(_ size: Int) throws {
    let part = try shop.start(content)
    defer { part.close() }
    for start in stride(from: 0, to: content.count, by: size) {
      try part.put(content, start..<min(start + size, content.count))
    }
    try check(part)
  }

  @Test(arguments: 1...5 as ClosedRange<UInt64>)
  func `pieces in any order give the file and its sums`(_ seed: UInt64) throws {
    let part = try shop.start(content)
    defer { part.close() }
    var pieces = stride(from: 0, to: content.count, by: 700).map { $0..<min($0 + 900, content.count) }
    var random = seed
    for index in pieces.indices.reversed() {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      pieces.swapAt(index, Int(random >> 33) % (index + 1))
    }
    for piece in pieces { try part.put(content, piece) }
    try check(part)
  }

  private func check(_ part: PartFile) throws {
    #expect(shop.contents(shop.partPath) == content)
    #expect(part.snapshot().writtenChunks == 4)
    #expect(part.snapshot().frontier == content.count)
    let grid = Workshop.header(length: content.count).grid
    for chunk in 0..<grid.count {
      let range = grid.range(of: chunk)
      let expected = try #require(part.expectedSum(ofChunk: chunk))
      let sum = Array(content[range.lower..<range.upper]).withUnsafeBytes {
        ChunkSum.normalised(xxh3($0, seed: expected.seed))
      }
      #expect(sum == expected.value)
    }
  }

  @Test func `each byte is written once a generation`() throws {
    let part = try shop.start(content)
    defer { part.close() }
    try part.put(content, 0..<5000)
    shop.disk.forgetLog()
    let other = Workshop.content(content.count, salt: 5)
    try part.put(other, 1000..<5000)
    #expect(shop.disk.log.isEmpty)
    try part.put(other, 4000..<6000)
    #expect(shop.contents(shop.partPath)?.prefix(6000) == content.prefix(5000) + other[5000..<6000])
  }

  @Test func `buffers of an older generation are dropped`() throws {
    let part = try shop.start(content)
    defer { part.close() }
    try part.clear(mismatch: true)
    try part.put(content, 0..<4096, generation: 0)
    #expect(part.snapshot().writtenBytes == 0)
    try part.put(content, 0..<4096, generation: 1)
    #expect(part.snapshot().writtenBytes == 4096)
  }

  @Test func `bytes past the end are dropped`() throws {
    let part = try shop.start(content)
    defer { part.close() }
    let longer = content + [1, 2, 3]
    try part.put(longer, 12_288..<longer.count)
    #expect(part.snapshot().writtenBytes == 100)
    #expect(shop.contents(shop.partPath)?.count == content.count)
  }

  @Test func `writes of one byte at a time arrive whole`() throws {
    shop.disk.script.withLock { $0.mostPerWrite = 1 }
    let part = try shop.start(content)
    try part.put(content, 0..<content.count)
    #expect(try part.commit(.periodic).durableBytes == content.count)
    try part.finish(mode: nil, modified: nil, overwrite: false)
    part.close()
    #expect(shop.contents(shop.finalPath) == content)
  }

  @Test func `a failed write counts for nothing and can be repeated`() throws {
    let part = try shop.start(content)
    defer { part.close() }
    shop.disk.fail("write part", with: ENOSPC)
    #expect(kind { () throws(DiskError) in try part.put(content, 0..<5000) } == .noSpace)
    #expect(part.snapshot().writtenBytes == 0)
    shop.disk.heal()
    try part.put(content, 0..<content.count)
    try check(part)
  }

  @Test func `a chunk whose sum cannot be stored is not counted`() throws {
    let part = try shop.start(content)
    defer { part.close() }
    try part.put(content, chunks: [0])
    _ = try part.commit(.periodic)
    shop.disk.fail("write manifest", with: EIO)
    #expect(kind { () throws(DiskError) in try part.put(content, chunks: [1]) } == .io)
    #expect(part.snapshot().writtenChunks == 1)
    #expect(part.expectedSum(ofChunk: 1) == nil)
  }

  @Test func `the frontier is handed out in whole chunks, and the rest at the end`() throws {
    let part = try shop.start(content)
    defer { part.close() }
    try part.put(content, 0..<5000)
    #expect(part.waitForFrontier(beyond: 0, generation: 0) == .ready(upTo: 4096))
    try part.put(content, 8192..<content.count)
    #expect(part.snapshot().frontier == 5000)
    try part.put(content, 5000..<8192)
    #expect(part.waitForFrontier(beyond: 4096, generation: 0) == .ready(upTo: content.count))
    #expect(part.waitForFrontier(beyond: content.count, generation: 0) == .complete)
    #expect(part.waitForFrontier(beyond: 0, generation: 1) == .cancelled)
    part.cancelWaiters()
    #expect(part.waitForFrontier(beyond: 0, generation: 0) == .cancelled)
  }

  @Test(.timeLimit(.minutes(10))) func `a waiting reader is woken, reads, and sees the end`() throws {
    let part = try shop.start(content)
    defer { part.close() }
    let reader = Worker(name: "test-digest")
    let seen = Monitor([UInt8]())
    reader.submit { [count = content.count] in
      var offset = 0
      while case .ready(let end) = part.waitForFrontier(beyond: offset, generation: 0) {
        var bytes = [UInt8](repeating: 0, count: end - offset)
        try? bytes.withUnsafeMutableBytes { (buffer) throws in try part.read(into: buffer, at: offset) }
        seen.withLock { $0 += bytes }
        offset = end
        if end == count { break }
      }
    }
    for start in stride(from: 0, to: content.count, by: 500) {
      try part.put(content, start..<min(start + 500, content.count))
    }
    reader.close()
    reader.join()
    #expect(seen.withLock { $0 } == content)
  }

  @Test func `an unknown length has no manifest and ends where it is declared`() throws {
    let part = try shop.open()
    defer { part.close() }
    try part.begin(grid: nil, header: nil, adopt: false)
    try part.reserve()
    try part.put(content, 0..<5000)
    #expect(part.waitForFrontier(beyond: 0, generation: 0) == .ready(upTo: 5000))
    #expect(try part.commit(.stop) == CommitResult(durableBytes: 0, wrote: false))
    #expect(
      kind { () throws(DiskError) in try part.finish(mode: nil, modified: nil, overwrite: false) }
        == .incomplete)
    try part.put(content, 5000..<6000)
    part.declareComplete(length: 6000)
    #expect(part.waitForFrontier(beyond: 6000, generation: 0) == .complete)
    try shop.patch(shop.partPath, at: 7000, with: [1])
    try part.finish(mode: nil, modified: nil, overwrite: false)
    #expect(shop.contents(shop.finalPath) == Array(content.prefix(6000)))
    #expect(shop.names == ["file.bin"])
  }

  @Test func `an empty file is complete at once`() throws {
    let part = try shop.start([])
    defer { part.close() }
    #expect(part.waitForFrontier(beyond: 0, generation: 0) == .complete)
    try part.finish(mode: nil, modified: nil, overwrite: false)
    #expect(shop.contents(shop.finalPath) == [])
  }
}
