// SPDX-License-Identifier: Apache-2.0

import Foundation
import HaulCore
import HaulDisk
import HaulPlatform
import Testing

@Suite struct PartFileReservingTests {
  let shop: Workshop
  let content = Workshop.content(20_000)
  init() throws { shop = try Workshop() }

  @Test func `room is set aside for the whole file`() throws {
    let part = try shop.start(content)
    defer { part.close() }
    #expect(shop.contents(shop.partPath)?.count == content.count)
    #expect(shop.disk.log.contains("reserve part"))
  }

  @Test func `too little free space is told before anything is taken`() throws {
    shop.disk.script.withLock { $0.free = 19_999 }
    #expect(kind { () throws(DiskError) in try shop.start(content).close() } == .noSpace)
    #expect(!shop.disk.log.contains("reserve part"))
    #expect(shop.contents(shop.partPath) == [])
  }

  @Test(arguments: [ENOSPC, EDQUOT, EFBIG])
  func `a disk that fills while reserving gives back what it took`(_ code: Int32) throws {
    shop.disk.fail("reserve part", with: code)
    #expect(kind { () throws(DiskError) in try shop.start(content).close() } == .noSpace)
    #expect(shop.contents(shop.partPath) == [])
  }

  @Test(arguments: [EOPNOTSUPP, ENOSYS])
  func `a filesystem that cannot reserve gets a hole of the right length`(_ code: Int32) throws {
    shop.disk.fail("reserve", with: code)
    let part = try shop.start(content)
    defer { part.close() }
    #expect(shop.contents(shop.partPath)?.count == content.count)
    try part.put(content, 0..<content.count)
    #expect(try part.commit(.periodic).durableBytes == content.count)
  }

  @Test func `a part that somebody made longer is cut to its length`() throws {
    let part = try shop.open()
    defer { part.close() }
    let header = Workshop.header(length: content.count)
    try part.begin(grid: header.grid, header: header, adopt: false)
    try shop.patch(shop.partPath, at: 30_000, with: [1])
    try part.reserve()
    #expect(shop.contents(shop.partPath)?.count == content.count)
  }
}
