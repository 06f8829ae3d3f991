// SPDX-License-Identifier: Apache-2.0

import Foundation
import HaulCore
import HaulDisk
import Testing

@Suite struct PartFileFinishingTests {
  let shop: Workshop
  let content = Workshop.content(3 * Workshop.chunkSize + 100)
  init() throws { shop = try Workshop() }

  private func complete(sync: Bool = true) throws -> PartFile {
    let part = try shop.start(content, sync: sync)
    try part.put(content, 0..<content.count)
    _ = try part.commit(.periodic)
    shop.disk.forgetLog()
    return part
  }

  @Test func `finish syncs, names and cleans in its order`() throws {
    let part = try complete()
    try part.finish(mode: 0o644, modified: 1_500_000_000, overwrite: false)
    part.close()
    #expect(
      shop.disk.log == [
        "fsync part", "mode part", "time part", "rename-new part", "sync directory", "unlink manifest",
        "sync directory",
      ])
    #expect(shop.names == ["file.bin"])
    #expect(shop.contents(shop.finalPath) == content)
    let attributes = try FileManager.default.attributesOfItem(atPath: shop.finalPath)
    #expect(attributes[.posixPermissions] as? Int == 0o644)
    #expect((attributes[.modificationDate] as? Date)?.timeIntervalSince1970 == 1_500_000_000)
  }

  @Test func `a file that was never committed has no manifest to remove`() throws {
    let part = try shop.start(content)
    try part.put(content, 0..<content.count)
    shop.disk.forgetLog()
    try part.finish(mode: nil, modified: nil, overwrite: false)
    part.close()
    #expect(shop.disk.log == ["fsync part", "rename-new part", "sync directory"])
  }

  @Test func `a file with a missing chunk gets no final name`() throws {
    let part = try shop.start(content)
    defer { part.close() }
    try part.put(content, chunks: [0, 1, 3])
    #expect(
      kind { () throws(DiskError) in try part.finish(mode: nil, modified: nil, overwrite: false) }
        == .incomplete)
    #expect(shop.names == ["file.bin.haul-part"])
  }

  @Test func `a name taken meanwhile is not replaced, and nothing durable is lost`() throws {
    let part = try complete()
    try shop.put([9], at: shop.finalPath)
    #expect(
      kind { () throws(DiskError) in try part.finish(mode: nil, modified: nil, overwrite: false) } == .exists)
    #expect(shop.contents(shop.finalPath) == [9])
    #expect(shop.names == ["file.bin", "file.bin.haul", "file.bin.haul-part"])
    try part.finish(mode: nil, modified: nil, overwrite: true)
    part.close()
    #expect(shop.contents(shop.finalPath) == content)
    #expect(shop.names == ["file.bin"])
  }

  @Test func `a part that lost its name is not what gets renamed`() throws {
    let part = try complete()
    defer { part.close() }
    try FileManager.default.moveItem(atPath: shop.partPath, toPath: shop.folder + "/moved")
    try shop.put([1], at: shop.partPath)
    #expect(
      kind { () throws(DiskError) in try part.finish(mode: nil, modified: nil, overwrite: false) } == .gone)
    #expect(!shop.names.contains("file.bin"))
  }

  @Test func `without an exclusive rename a link is made, then the part is unlinked`() throws {
    let part = try complete()
    shop.disk.fail("rename-new", with: ENOSYS)
    try part.finish(mode: nil, modified: nil, overwrite: false)
    part.close()
    #expect(shop.disk.log.dropFirst().prefix(3) == ["rename-new part", "link part", "unlink part"])
    #expect(shop.names == ["file.bin"])
  }

  @Test(arguments: [EPERM, EOPNOTSUPP])
  func `with neither, the name is looked at and then renamed`(_ code: Int32) throws {
    let part = try complete()
    shop.disk.fail { $0 == "rename-new part" ? EINVAL : $0 == "link part" ? code : nil }
    try shop.put([9], at: shop.finalPath)
    #expect(
      kind { () throws(DiskError) in try part.finish(mode: nil, modified: nil, overwrite: false) } == .exists)
    try FileManager.default.removeItem(atPath: shop.finalPath)
    try part.finish(mode: nil, modified: nil, overwrite: false)
    part.close()
    #expect(shop.contents(shop.finalPath) == content)
  }

  @Test func `modes and times that the filesystem refuses do not fail the download`() throws {
    let part = try complete()
    shop.disk.fail { $0.hasPrefix("mode") || $0.hasPrefix("time") ? EPERM : nil }
    try part.finish(mode: 0o644, modified: 1, overwrite: false)
    part.close()
    #expect(shop.contents(shop.finalPath) == content)
  }

  /// Every step of finish fails once; what the next run finds is either the part or the finished file.
  @Test(arguments: [
    "fsync part", "mode part", "time part", "rename-new part", "sync directory", "unlink manifest",
  ])
  func `stopped at any step, the next open resumes or cleans up`(_ step: String) throws {
    let part = try complete()
    shop.disk.fail(step, with: EIO)
    let failed = kind { () throws(DiskError) in try part.finish(mode: 0o600, modified: 1, overwrite: false) }
    part.close()
    shop.disk.heal()
    if shop.names.contains("file.bin") {
      #expect(failed == (step == "unlink manifest" ? nil : .io))
      #expect(shop.contents(shop.finalPath) == content)
      #expect(kind { () throws(DiskError) in _ = try shop.open() } == .exists)
      #expect(shop.names == ["file.bin"], "the rest of the finish was done")
    } else {
      #expect(failed == .io)
      let again = try shop.open()
      #expect(again.resume?.marked.isFull == true)
      again.close()
    }
  }

  @Test func `a finished file that is only looked at gets the rest of its finish, and a durable name`() throws
  {
    let part = try complete()
    shop.disk.fail("unlink manifest", with: EIO)
    try part.finish(mode: 0o600, modified: 1, overwrite: false)
    part.close()
    shop.disk.heal()
    shop.disk.forgetLog()
    PartFile.settle(shop.target, disk: shop.disk)
    #expect(shop.names == ["file.bin"])
    #expect(shop.disk.log == ["lock file.bin", "unlink manifest", "sync directory", "sync directory"])
    shop.disk.forgetLog()
    PartFile.settle(shop.target, sync: false, disk: shop.disk)
    #expect(shop.disk.log == [])
  }

  @Test func `a crash between link and unlink leaves one file with two names, and the next open removes one`()
    throws
  {
    let part = try complete()
    shop.disk.fail { $0 == "rename-new part" ? ENOSYS : $0 == "unlink part" ? EIO : nil }
    #expect(
      kind { () throws(DiskError) in try part.finish(mode: nil, modified: nil, overwrite: false) } == .io)
    #expect(shop.names == ["file.bin", "file.bin.haul", "file.bin.haul-part"])
    shop.disk.heal()
    #expect(
      kind { () throws(DiskError) in _ = try shop.open() } == .busy(holderProcess: lockHolderShown),
      "while the finishing process lives, the cleaning is its own")
    part.close()
    #expect(kind { () throws(DiskError) in _ = try shop.open() } == .exists)
    #expect(shop.names == ["file.bin"])
    #expect(shop.contents(shop.finalPath) == content)
  }

  @Test func `overwriting after an interrupted finish starts a new part and keeps the old file until then`()
    throws
  {
    let part = try complete()
    shop.disk.fail("sync directory", with: EIO)
    #expect(
      kind { () throws(DiskError) in try part.finish(mode: nil, modified: nil, overwrite: false) } == .io)
    part.close()
    shop.disk.heal()
    let next = try shop.open(overwrite: true)
    defer { next.close() }
    #expect(next.resume == nil)
    #expect(shop.contents(shop.finalPath) == content)
    #expect(shop.names == ["file.bin", "file.bin.haul-part"])
  }

  @Test func `a download with nothing worth keeping leaves no name behind`() throws {
    let part = try complete()
    try part.remove()
    part.close()
    #expect(shop.names == [])
  }

  /// Leaves a part and a manifest, as an interruption does, and removes them; `fault` may stop that anywhere.
  private func discard(_ fault: @escaping @Sendable (String) -> Int32?) throws -> DiskError.Kind? {
    let part = try shop.start(content)
    try part.put(content, chunks: [0, 1])
    _ = try part.commit(.stop)
    part.close()
    shop.disk.forgetLog()
    shop.disk.fail(fault)
    defer { shop.disk.heal() }
    let left = try shop.open(overwrite: true)
    defer { left.close() }
    return kind { () throws(DiskError) in try left.remove() }
  }

  @Test func `removing takes the manifest for good before the part`() throws {
    #expect(try discard { _ in nil } == nil)
    #expect(shop.disk.log == ["lock part", "unlink manifest", "sync directory", "unlink part"])
    #expect(shop.names == [])
  }

  @Test(arguments: ["unlink manifest", "sync directory", "unlink part"])
  func `a removal that stops anywhere leaves what the next open takes up or starts over`(
    step: String
  ) throws {
    #expect(try discard { $0 == step ? EIO : nil } == .io)
    #expect(shop.names.contains("file.bin.haul-part"))
    let next = try shop.open()
    defer { next.close() }
    #expect((next.resume == nil) == (step != "unlink manifest"))
    if next.resume == nil { #expect(shop.names == ["file.bin.haul-part"]) }
  }
}
