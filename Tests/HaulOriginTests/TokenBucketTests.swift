// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HaulOrigin

struct TokenBucketTests {
  private static let second = 1_000_000_000

  @Test(
    "no window gets more than its time and one bucket", arguments: [1, 10, 4096, 1_000_000, 3_000_000_000])
  func neverFaster(rate: Int) {
    var bucket = TokenBucket(rate: rate, now: 0)
    var now = 0
    var sent = 0
    let slice = bucket.slice(nanoseconds: 10_000_000)
    for step in 0..<2000 {
      // Now and then the sender is late or idle.
      if step % 97 == 0 { now += 50_000_000 }
      now += bucket.reserve(slice, now: now)
      sent += slice
      let allowed = (Double(now) + 20e6) * Double(rate) / 1e9
      #expect(Double(sent) <= allowed + 1)
    }
  }

  @Test("a busy sender gets the whole rate")
  func neverMuchSlower() {
    var bucket = TokenBucket(rate: 1_000_000, now: 0)
    var now = 0
    for _ in 0..<1000 { now += bucket.reserve(10_000, now: now) }
    #expect(now >= 10 * Self.second - 20_000_000 && now <= 10 * Self.second)
  }

  @Test("idle time fills the bucket once, however long it lasts")
  func noHoard() {
    var bucket = TokenBucket(rate: 1_000_000, now: 0)
    #expect(bucket.reserve(20_000, now: 3600 * Self.second) == 0)
    #expect(bucket.reserve(10_000, now: 3600 * Self.second) == 10_000_000)
  }

  @Test("those who share a bucket are served in the order of asking, evenly spaced")
  func fairTurns() {
    var bucket = TokenBucket(rate: 1_000_000, depth: 0, now: 0)
    let turns = (0..<5).map { _ in bucket.reserve(1000, now: 0) }
    #expect(turns == [1, 2, 3, 4, 5].map { $0 * 1_000_000 })
  }

  @Test("a new rate holds for what comes, not for what was booked")
  func change() {
    var bucket = TokenBucket(rate: 1000, depth: 0, now: 0)
    #expect(bucket.reserve(1000, now: 0) == Self.second)
    bucket.change(rate: 2000)
    #expect(bucket.reserve(1000, now: 0) == Self.second * 3 / 2)
  }
}
