// SPDX-License-Identifier: Apache-2.0

import Foundation
import HaulCore
import HaulPlatform
import TestSupport
import Testing

@testable import HaulDisk

@Suite struct PartFileOpeningTests {
  let shop: Workshop
  init() throws { shop = try Workshop() }

  @Test func `a second open is refused and names the process that holds the lock`() throws {
    let first = try shop.open()
    #expect(kind { () throws(DiskError) in _ = try shop.open() } == .busy(holderProcess: lockHolderShown))
    first.close()
    let second = try shop.open()
    second.close()
  }

  @Test func `a new part belongs to its owner alone`() throws {
    let part = try shop.open()
    defer { part.close() }
    let attributes = try FileManager.default.attributesOfItem(atPath: shop.partPath)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(part.resume == nil)
    #expect(part.notice == nil)
  }

  enum Plant: CaseIterable { case symlink, fifo, directory, hardlink }

  private func plant(_ what: Plant, at path: String) throws {
    let victim = shop.folder + "/victim"
    try shop.put([1, 2, 3], at: victim)
    switch what {
    case .symlink: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: victim)
    case .fifo: #expect(mkfifo(path, 0o600) == 0)
    case .directory: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    case .hardlink: try FileManager.default.linkItem(atPath: victim, toPath: path)
    }
  }

  @Test(arguments: Plant.allCases)
  func `something planted at the part's name is refused and untouched`(_ what: Plant) throws {
    try plant(what, at: shop.partPath)
    #expect(kind { () throws(DiskError) in _ = try shop.open() } == .foreign)
    #expect(shop.contents(shop.folder + "/victim") == [1, 2, 3])
    #expect(shop.names == ["file.bin.haul-part", "victim"])
  }

  @Test(arguments: Plant.allCases)
  func `something planted at the manifest's name is refused and untouched`(_ what: Plant) throws {
    try plant(what, at: shop.manifestPath)
    #expect(kind { () throws(DiskError) in _ = try shop.open() } == .foreign)
    #expect(shop.contents(shop.folder + "/victim") == [1, 2, 3])
    #expect(shop.names == ["file.bin.haul", "victim"], "the part that was created on the way is gone again")
  }

  @Test(arguments: [[UInt8]("# my own notes".utf8), [UInt8](repeating: 0, count: 100)])
  func `a stranger's sidecar is neither deleted nor overwritten`(_ bytes: [UInt8]) throws {
    try shop.put(bytes, at: shop.manifestPath)
    try shop.put([5], at: shop.partPath)
    #expect(kind { () throws(DiskError) in _ = try shop.open() } == .foreign)
    #expect(shop.contents(shop.manifestPath) == bytes)
    #expect(shop.contents(shop.partPath) == [5])
  }

  @Test func `a manifest of a newer format is left alone`() throws {
    var page = ManifestCodec.xxh3.encode(Workshop.header(length: 9000))
    page[8] = 2
    try shop.put(page + page, at: shop.manifestPath)
    #expect(kind { () throws(DiskError) in _ = try shop.open() } == .foreign)
    #expect(shop.contents(shop.manifestPath) == page + page)
  }

  @Test(arguments: [0o622, 0o666, 0o620])
  func `a manifest that others may write to is not believed`(_ mode: Int) throws {
    try leaveOneChunk()
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: shop.manifestPath)
    #expect(kind { () throws(DiskError) in _ = try shop.open() } == .foreign)
  }

  /// One durable chunk of three, closed in order.
  private func leaveOneChunk() throws {
    let content = Workshop.content(3 * Workshop.chunkSize)
    let part = try shop.start(content)
    try part.put(content, chunks: [0])
    _ = try part.commit(.periodic)
    part.close()
  }

  @Test func `a part without a manifest starts over under the lock`() throws {
    try shop.put([1, 2, 3], at: shop.partPath)
    let inode = try FileManager.default.attributesOfItem(atPath: shop.partPath)[.systemFileNumber] as? Int
    let part = try shop.open()
    defer { part.close() }
    #expect(shop.contents(shop.partPath) == [])
    #expect(part.notice?.contains("3 B of before") == true)
    let after = try FileManager.default.attributesOfItem(atPath: shop.partPath)[.systemFileNumber] as? Int
    #expect(inode == after)
  }

  @Test func `a manifest whose part is gone is removed`() throws {
    try leaveOneChunk()
    try FileManager.default.removeItem(atPath: shop.partPath)
    let part = try shop.open()
    defer { part.close() }
    #expect(part.resume == nil)
    #expect(part.notice != nil)
    #expect(shop.names == ["file.bin.haul-part"])
  }

  @Test(arguments: [0, 4096, 32768])
  func `a manifest that was created but never written starts over`(_ size: Int) throws {
    try shop.put([UInt8](repeating: 0, count: size), at: shop.manifestPath)
    try shop.put([1], at: shop.partPath)
    let part = try shop.open()
    defer { part.close() }
    #expect(part.resume == nil)
    #expect(shop.names == ["file.bin.haul-part"])
  }

  @Test func `two damaged headers start over and say why`() throws {
    try leaveOneChunk()
    for page in 0..<2 { try shop.patch(shop.manifestPath, at: 4096 * page + 40, with: [0xff]) }
    let part = try shop.open()
    defer { part.close() }
    #expect(part.resume == nil)
    #expect(part.notice?.contains("damaged") == true)
    #expect(shop.names == ["file.bin.haul-part"])
  }

  @Test func `an existing final file is not touched unless asked`() throws {
    try shop.put([1], at: shop.finalPath)
    #expect(kind { () throws(DiskError) in _ = try shop.open() } == .exists)
    #expect(shop.names == ["file.bin"])
    let part = try shop.open(overwrite: true)
    part.close()
    #expect(shop.contents(shop.finalPath) == [1])
  }

  @Test(.enabled(if: Files.exists("/dev/shm"), "there is no filesystem in memory to try"))
  func `a filesystem in memory is told, unless nothing is synced anyway`() throws {
    let target = Target(
      directory: "/dev/shm", name: "haul-test.\(getpid()).\(UInt64.random(in: 0...UInt64.max))")
    for sync in [true, false] {
      let part = try PartFile.open(target, overwrite: false, sync: sync)
      #expect(part.syncDoubt == (sync ? .inMemory : nil))
      try part.remove()
    }
  }

  @Test func `a directory that is not there is named as gone`() {
    let target = Target(directory: shop.folder + "/nowhere", name: "x")
    #expect(kind { () throws(DiskError) in _ = try PartFile.open(target, overwrite: false) } == .gone)
  }

  @Test func `a part replaced between open and lock is not the one that gets locked`() throws {
    try shop.put([1, 2, 3], at: shop.partPath)
    let (from, to) = (shop.partPath, shop.folder + "/elsewhere")
    let once = Monitor(true)
    shop.disk.script.withLock { script in
      script.before = { line in
        let go = once.withLock { flag in
          defer { if line == "lock part" { flag = false } }
          return flag && line == "lock part"
        }
        if go {
          rename(from, to)
          close(open(from, O_CREAT | O_WRONLY, 0o600))
        }
      }
    }
    let part = try shop.open()
    defer { part.close() }
    #expect(shop.disk.log.filter { $0 == "lock part" }.count == 2)
    #expect(shop.contents(to) == [1, 2, 3], "the file that was renamed away kept its bytes")
    #expect(shop.contents(shop.partPath) == [])
  }

  @Test func `a final file that appears before the lock is respected`() throws {
    let path = shop.finalPath
    shop.disk.script.withLock { script in
      script.before = { line in
        if line == "lock part" { close(open(path, O_CREAT | O_WRONLY, 0o600)) }
      }
    }
    #expect(kind { () throws(DiskError) in _ = try shop.open() } == .exists)
    #expect(shop.names == ["file.bin"])
  }

  @Test func `a lock line of proc is read for its device and inode`() {
    let text = """
      1: POSIX  ADVISORY  WRITE 11 fe:00:42 0 EOF
      2: FLOCK  ADVISORY  WRITE 12 fe:01:42 0 EOF
      3: FLOCK  ADVISORY  WRITE 13 fe:00:42 0 EOF
      3: -> FLOCK  ADVISORY  WRITE 14 fe:00:42 0 EOF
      """
    #expect(ProcLocks.holder(in: text, of: FileStatus(device: 0xfe00, inode: 42, size: 0, owner: 0)) == 13)
    #expect(ProcLocks.holder(in: text, of: FileStatus(device: 0x1200, inode: 42, size: 0, owner: 0)) == 12)
    #expect(ProcLocks.holder(in: text, of: FileStatus(device: 0xfe00, inode: 43, size: 0, owner: 0)) == nil)
  }
}
