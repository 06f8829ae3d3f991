// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

@Suite("RateEstimator")
struct RateEstimatorTests {
  @Test("the first sample is the rate")
  func first() {
    var rate = RateEstimator()
    rate.begin(now: 10)
    #expect(rate.rate == nil)
    rate.update(total: 500, now: 10.5)
    #expect(rate.rate == 1000)
  }

  @Test("nothing is measured before the stream begins, nor in no time")
  func early() {
    var rate = RateEstimator()
    rate.update(total: 500, now: 10)
    rate.begin(now: 10)
    rate.update(total: 500, now: 10)
    rate.update(total: 500, now: 10.01)
    #expect(rate.rate == nil)
  }

  @Test("a short silence is no rate, a longer one is")
  func silence() {
    var rate = RateEstimator()
    rate.begin(now: 0)
    rate.update(total: 0, now: 0.2)
    #expect(rate.rate == nil)
    rate.update(total: 0, now: 0.3)
    #expect(rate.rate == 0)
  }

  @Test("a change is followed within the memory", arguments: [0.0, 500, 4000])
  func follows(_ later: Double) {
    var rate = RateEstimator(memory: 1)
    rate.begin(now: 0)
    rate.update(total: 100, now: 0.1)
    #expect(rate.rate == 1000)
    var total = 100.0
    for step in 1...50 {
      total += later / 10
      rate.update(total: Int(total), now: 0.1 + Double(step) / 10)
    }
    #expect(abs((rate.rate ?? -1) - later) < 20)
  }

  @Test("a stream that was over before its first sample counts once")
  func finish() {
    var rate = RateEstimator()
    rate.begin(now: 0)
    rate.finish(total: 100, now: 0.01)
    #expect(rate.rate.map { $0.rounded() } == 10_000)
    rate.update(total: 1_000_000, now: 1)
    #expect(rate.rate.map { $0.rounded() } == 10_000, "the stream is over")
    rate.begin(now: 2)
    rate.finish(total: 1, now: 3)
    #expect(rate.rate.map { $0.rounded() } == 10_000, "one is known")
  }

  @Test("a rate says something about others for a minute after its stream")
  func fresh() {
    var rate = RateEstimator()
    rate.begin(now: 0)
    #expect(!rate.isFresh(at: 0))
    rate.finish(total: 100, now: 5)
    #expect(rate.isFresh(at: 64.9) && !rate.isFresh(at: 65))
  }

  @Test("a stream that brought nothing and took no time tells nothing")
  func finishWithoutBytes() {
    var rate = RateEstimator()
    rate.begin(now: 0)
    rate.finish(total: 0, now: 0.01)
    rate.begin(now: 1)
    rate.finish(total: 10, now: 1)
    #expect(rate.rate == nil)
  }
}
