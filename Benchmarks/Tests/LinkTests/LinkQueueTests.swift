// SPDX-License-Identifier: Apache-2.0

import Link
import Testing

@Suite struct LinkQueueTests {
  private let shape = LinkShape(rate: 8_000_000, delay: 0.04, queue: 100_000)

  @Test("a packet arrives when its last bit has left and crossed the link")
  func arrival() {
    var queue = LinkQueue(shape, seed: 1)
    #expect(abs(queue.offer(bytes: 1000, now: 5)! - 5.041) < 1e-9)
    // The second waits for the first.
    #expect(abs(queue.offer(bytes: 1000, now: 5)! - 5.042) < 1e-9)
    // The link has been idle meanwhile, and saves nothing up.
    #expect(abs(queue.offer(bytes: 1000, now: 9)! - 9.041) < 1e-9)
  }

  @Test("a full queue drops, and has room again when packets have left")
  func overflow() {
    var queue = LinkQueue(shape, seed: 1)
    let taken = (0..<150).count { _ in queue.offer(bytes: 1000, now: 0) != nil }
    #expect(taken == 100)
    #expect(queue.counts.overflowed == 50 && queue.counts.delivered == 100)
    #expect(queue.offer(bytes: 1000, now: 0.0101) != nil)
  }

  @Test(
    "what is lost depends on the seed alone, and is as much as asked for", arguments: [1, 2, 3] as [UInt64])
  func loss(seed: UInt64) {
    var shape = shape
    shape.loss = 0.005
    func lost(_ pause: Double) -> [Int] {
      var queue = LinkQueue(shape, seed: seed)
      return (0..<200_000).filter { queue.offer(bytes: 100, now: Double($0) * pause) == nil }
    }
    let first = lost(0.001)
    #expect(first == lost(0.002))
    #expect((900...1100).contains(first.count), "seed \(seed): \(first.count) of 200000")
  }

  @Test("a busy link carries its rate")
  func rate() {
    var queue = LinkQueue(shape, seed: 1)
    var last = 0.0
    for packet in 0..<10_000 {
      if let arrival = queue.offer(bytes: 1000, now: Double(packet) * 0.0005) { last = arrival }
    }
    let rate = Double(queue.counts.deliveredBytes) * 8 / (last - 0.04)
    #expect(abs(rate / 8_000_000 - 1) < 0.001)
  }
}
