// SPDX-License-Identifier: Apache-2.0

import HaulCore
import HaulDisk
import HaulPlatform
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A partial file of another program on its way to becoming a part.
struct PartCandidateTests {
  private static let chunk = Workshop.chunkSize
  private let shop: Workshop
  /// 500 chunks; the last MiB, 256 chunks, never counts.
  private let content = Workshop.content(500 * chunk)
  private let header = Workshop.header(length: 800 * chunk)
  private var path: String { shop.folder + "/file.bin.part" }

  init() throws {
    shop = try Workshop()
    try shop.put(content, at: shop.folder + "/file.bin.part", mode: 0o664)
  }

  private func candidate() throws(DiskError) -> PartCandidate {
    try PartCandidate("file.bin.part", for: shop.target, disk: shop.disk)
  }

  private func survey() throws -> PartCandidate.Survey? {
    try candidate().survey(header.grid, id: header.id) { true }
  }

  @Test func `all but the last MiB is believed`() throws {
    let survey = try #require(try survey())
    #expect(survey.believed.runs(of: true) == [0..<244])
    #expect(survey.sums.enumerated().allSatisfy { ($1 != ChunkSum.none) == survey.believed[$0] })
    #expect(shop.contents(path) == content)
  }

  @Test func `room that was set aside is no content, nor is what ends in it`() throws {
    var bytes = content + [UInt8](repeating: 0, count: 200 * Self.chunk)
    for index in 10 * Self.chunk..<11 * Self.chunk { bytes[index] = 0 }
    // A chunk is a page here, so only one that is all zeros ends in a page of them.
    try shop.put(bytes, at: path)
    let survey = try #require(try survey())
    #expect(survey.believed.runs(of: true) == [0..<10, 11..<244])
    try shop.put([UInt8](repeating: 0, count: bytes.count), at: path)
    #expect(try self.survey()?.believed.setCount == 0)
  }

  @Test func `one blank page is enough to disbelieve a chunk`() throws {
    let grid = ChunkGrid(length: 800 * Self.chunk, chunkSize: 4 * Self.chunk)
    var bytes = content
    for index in 7 * Self.chunk..<8 * Self.chunk { bytes[index] = 0 }  // ends chunk 1
    for index in 8 * Self.chunk..<9 * Self.chunk { bytes[index] = 0 }  // begins chunk 2
    try shop.put(bytes, at: path)
    let survey = try #require(try candidate().survey(grid, id: header.id) { true })
    #expect(survey.believed.runs(of: true) == [0..<1, 3..<61])
  }

  @Test func `reading ends when nobody wants it any more`() throws {
    #expect(try candidate().survey(header.grid, id: header.id) { false } == nil)
  }

  /// Takes the file over; `fault` may stop that.
  private func take(_ fault: @escaping @Sendable (String) -> Int32? = { _ in nil }) throws -> DiskError.Kind?
  {
    let candidate = try candidate()
    let survey = try #require(try candidate.survey(header.grid, id: header.id) { true })
    shop.disk.forgetLog()
    shop.disk.fail(fault)
    defer { shop.disk.heal() }
    return kind { () throws(DiskError) in try candidate.take(header, survey, syncs: true) }
  }

  @Test func `the manifest is durable before the file gets the part's name`() throws {
    #expect(try take() == nil)
    let log = shop.disk.log
    let rename = try #require(log.firstIndex(of: "rename-new file.bin.part"))
    let stored = try #require(log.lastIndex(of: "write manifest"))
    #expect(
      log[stored..<rename].contains("fsync manifest") && log[stored..<rename].contains("sync directory"))
    #expect(log.last == "sync directory")
    #expect(!log.contains("write part") && shop.contents(shop.partPath) == content)
    let part = try shop.open()
    defer { part.close() }
    #expect(part.resume?.rescuable == Array(0..<244) && part.resume?.marked.setCount == 0)
  }

  @Test func `stopped anywhere the file is as it was, or the part goes on`() throws {
    var isDone = false
    for step in 0..<40 where !isDone {
      let shop = try Workshop()
      let path = shop.folder + "/file.bin.part"
      try shop.put(content, at: path)
      let candidate = try PartCandidate("file.bin.part", for: shop.target, disk: shop.disk)
      let survey = try #require(try candidate.survey(header.grid, id: header.id) { true })
      // From that operation on nothing is done any more, as in a process that was killed.
      let count = Monitor(0)
      shop.disk.fail { _ in
        count.withLock {
          $0 += 1; return $0 > step ? EIO : nil
        }
      }
      isDone = kind { () throws(DiskError) in try candidate.take(header, survey, syncs: true) } == nil
      shop.disk.heal()
      candidate.close()
      if shop.names.contains("file.bin.part") {
        #expect(shop.contents(path) == content && !shop.names.contains("file.bin.haul-part"))
        // The next attempt is not in its own way.
        let again = try PartCandidate("file.bin.part", for: shop.target, disk: shop.disk)
        let second = try #require(try again.survey(header.grid, id: header.id) { true })
        try again.take(header, second, syncs: true)
      }
      #expect(shop.contents(shop.partPath) == content)
      let part = try shop.open()
      #expect(part.resume?.rescuable == Array(0..<244), "step \(step)")
      part.close()
    }
    #expect(isDone)
  }

  @Test func `a file that is still written to is left alone`() throws {
    let candidate = try candidate()
    let survey = try #require(try candidate.survey(header.grid, id: header.id) { true })
    try shop.patch(path, at: content.count, with: [1])
    #expect(kind { () throws(DiskError) in try candidate.take(header, survey, syncs: true) } == .foreign)
    #expect(shop.names == ["file.bin.part"])
  }

  @Test func `links, second names and taken names are refused and untouched`() throws {
    try shop.put([1], at: shop.manifestPath)
    #expect(kind { () throws(DiskError) in _ = try candidate() } == .exists)
    #expect(shop.contents(shop.manifestPath) == [1])
    unlink(shop.manifestPath)
    try shop.put([1], at: shop.finalPath)
    #expect(kind { () throws(DiskError) in _ = try candidate() } == .exists)
    unlink(shop.finalPath)
    link(path, shop.folder + "/second")
    #expect(kind { () throws(DiskError) in _ = try candidate() } == .foreign)
    unlink(path)
    symlink("second", path)
    #expect(kind { () throws(DiskError) in _ = try candidate() } == .foreign)
    #expect(shop.contents(shop.folder + "/second") == content)
  }

  @Test func `two can not take the same file`() throws {
    let first = try candidate()
    defer { first.close() }
    #expect(kind { () throws(DiskError) in _ = try candidate() } == .busy(holderProcess: lockHolderShown))
  }
}
