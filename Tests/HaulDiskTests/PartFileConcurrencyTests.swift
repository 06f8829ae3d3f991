// SPDX-License-Identifier: Apache-2.0

import HaulCore
import HaulDisk
import HaulPlatform
import Testing

@Suite struct PartFileConcurrencyTests {
  let shop: Workshop
  init() throws { shop = try Workshop() }

  /// The writer runs while the committer creates the manifest and commits, then everything stops as if
  /// killed. Who may get there first: the sum of a chunk and the manifest that has to hold it.
  @Test(.timeLimit(.minutes(10)), arguments: 1...8 as ClosedRange<UInt64>)
  func `no chunk that was complete is without a sum on disk, whenever the manifest appeared`(
    _ seed: UInt64
  ) throws {
    let content = Workshop.content(200 * Workshop.chunkSize, salt: seed)
    let part = try shop.start(content, id: seed, sync: false)
    var order = Array(0..<200)
    var random = seed
    for index in order.indices.reversed() {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      order.swapAt(index, Int(random >> 33) % (index + 1))
    }
    let done = Monitor(false)
    let writer = Worker(name: "test-writer")
    writer.submit { [order] in
      for chunk in order { try? part.put(content, chunks: [chunk]) }
      done.signal { $0 = true }
    }
    while !done.withLock({ $0 }) { _ = try part.commit(.periodic) }
    // The writer may be through before the first commit. This one stores no sum that a former one lost.
    _ = try part.commit(.periodic)
    writer.close()
    writer.join()
    #expect(part.snapshot().writtenChunks == 200)
    part.close()
    let again = try shop.open()
    defer { again.close() }
    let resume = try #require(again.resume)
    #expect(resume.rescuable == Array(0..<200))
    try again.begin(grid: nil, header: nil, adopt: true)
    #expect(try resume.rescuable.allSatisfy(again.proveRescuable))
  }
}
