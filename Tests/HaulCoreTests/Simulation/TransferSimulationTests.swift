// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

/// Seeds are grouped, so that the test run is not a list of thousands; a failure names its seed.
@Suite("Simulated transfers")
struct TransferSimulationTests {
  private static let seedsInGroup: UInt64 = 100

  @Test("every run ends, with every byte once or with a reason", arguments: 0..<40 as Range<UInt64>)
  func runs(group: UInt64) {
    for seed in group * Self.seedsInGroup..<(group + 1) * Self.seedsInGroup {
      var world = SimulatedWorld(seed: seed)
      world.run()
      #expect(world.violations.isEmpty, "seed \(seed)")
      switch world.outcome {
      case .complete?:
        #expect(world.accepted == ByteRangeSet(ByteRange(0, world.length)), "seed \(seed)")
        if !world.isStream, world.startOvers == 0 {
          #expect(world.machine.receivedBytes == world.length - world.presentBytes, "seed \(seed)")
        }
      case .failed(let failure)?: #expect(!failure.message.isEmpty, "seed \(seed)")
      case nil: Issue.record("seed \(seed) did not end")
      }
    }
  }

  @Test("the same seed is the same run", arguments: 0..<20 as Range<UInt64>)
  func repeats(seed: UInt64) {
    var first = SimulatedWorld(seed: seed)
    var second = SimulatedWorld(seed: seed)
    first.run()
    second.run()
    #expect(first.outcome == second.outcome)
    #expect(first.events == second.events)
    #expect(first.now == second.now)
  }

  @Test("the worlds are hard, not hopeless, and everything happens in some of them")
  func outcomes() {
    var complete = 0
    var steals = 0
    var startOvers = 0
    var streams = 0
    var repeated = 0
    var renewals = 0
    var fallbacks = 0
    var changed = 0
    for seed in 0..<300 as Range<UInt64> {
      var world = SimulatedWorld(seed: seed)
      world.run()
      if world.outcome == .complete { complete += 1 }
      if world.isStream { streams += 1 }
      steals += world.machine.scheduler?.stealCount ?? 0
      startOvers += world.startOvers
      repeated += world.machine.retryCount
      renewals += world.renewals
      fallbacks += world.fallbacks
      if world.outcome == .complete, world.generations.contains(where: { $0 > 0 }) { changed += 1 }
    }
    #expect(complete > 150 && complete < 300)
    #expect(steals > 20)
    #expect(startOvers > 3)
    #expect(streams > 20)
    #expect(repeated > 300)
    #expect(renewals > 10 && fallbacks > 5 && changed > 5)
  }
}
