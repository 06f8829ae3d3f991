// SPDX-License-Identifier: Apache-2.0

import Foundation
import HaulDisk
import HaulPlatform
import Testing

@Suite struct StreamFileTests {
  let shop: Workshop
  init() throws { shop = try Workshop() }

  @Test(.timeLimit(.minutes(10))) func `a FIFO gets every byte in order`() throws {
    let path = shop.folder + "/pipe"
    try #require(mkfifo(path, 0o600) == 0)
    let content = Workshop.content(200_000)
    let reader = Worker(name: "test-reader")
    let seen = Monitor([UInt8]())
    reader.submit {
      // By hand: FileManager believes a FIFO's size of 0 and leaves at once.
      let handle = FileHandle(forReadingAtPath: path)
      let bytes = (try? handle?.readToEnd()) ?? Data()
      seen.withLock { $0 = [UInt8](bytes) }
    }
    shop.disk.script.withLock { $0.mostPerWrite = 999 }
    let stream = try StreamFile.open(path, disk: shop.disk)
    try content.withUnsafeBufferPointer { (buffer) throws(DiskError) in
      try stream.write(UnsafeRawBufferPointer(buffer))
    }
    try stream.close()
    reader.close()
    reader.join()
    #expect(seen.withLock { $0 } == content)
  }

  @Test func `dev null takes everything`() throws {
    let stream = try StreamFile.open("/dev/null")
    try [UInt8](repeating: 1, count: 1000).withUnsafeBufferPointer { (buffer) throws(DiskError) in
      try stream.write(UnsafeRawBufferPointer(buffer))
    }
    try stream.close()
  }

  @Test func `a regular file is not streamed into`() throws {
    try shop.put([1], at: shop.finalPath)
    #expect(kind { () throws(DiskError) in _ = try StreamFile.open(shop.finalPath) } == .foreign)
    #expect(shop.contents(shop.finalPath) == [1])
    #expect(kind { () throws(DiskError) in _ = try StreamFile.open(shop.folder + "/none") } == .missing)
  }

  @Test(.timeLimit(.minutes(10))) func `a reader that leaves is told as such`() throws {
    let path = shop.folder + "/pipe"
    try #require(mkfifo(path, 0o600) == 0)
    let reader = open(path, O_RDONLY | O_NONBLOCK)
    let outcome = Monitor(DiskError.Kind?.none)
    // On a thread of Haul's own, where SIGPIPE is blocked.
    let worker = Worker(name: "test-stream")
    worker.submit {
      let result = kind { () throws(DiskError) in
        let stream = try StreamFile.open(path)
        close(reader)
        defer { try? stream.close() }
        try [UInt8]([1]).withUnsafeBufferPointer { (buffer) throws(DiskError) in
          try stream.write(UnsafeRawBufferPointer(buffer))
        }
      }
      outcome.withLock { $0 = result }
    }
    worker.close()
    worker.join()
    #expect(outcome.withLock { $0 } == .readerGone)
  }
}
