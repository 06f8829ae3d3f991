// SPDX-License-Identifier: Apache-2.0

import HaulCore
import TestSupport
import Testing

/// The headline promise on values: whatever a server says, the bytes of one generation of the file or an error.
///
/// Seeds are grouped, so that the test run is not a list of thousands. A failure names its seed: then
/// `HAUL_SEED=42 swift test --filter TransferSimulationTests` runs that one alone. `HAUL_SEEDS=100000` runs more.
///
/// Two kinds of lies are not among the scripts, because only a digest can find them: right heads over wrong
/// bytes, and a change of the file that no strong validator and no length tells.
@Suite("Simulated transfers")
struct TransferSimulationTests {
  private static let groups = 40
  private static let seeds = Seeds(usually: 8000)

  @Test("every run ends, with every byte of one generation or with a reason", arguments: 0..<groups)
  func runs(group: Int) {
    for seed in Self.seeds.all where Int(seed % UInt64(Self.groups)) == group {
      var world = SimulatedWorld(seed: seed)
      world.run()
      #expect(world.violations.isEmpty, "HAUL_SEED=\(seed): \(world.server)")
      switch world.outcome {
      case .complete?:
        #expect(world.wrongFile == nil, "HAUL_SEED=\(seed): \(world.server)")
        if !world.isStream, world.startOvers == 0, let length = world.machine.resource?.length {
          #expect(world.machine.receivedBytes == length - world.presentBytes, "HAUL_SEED=\(seed)")
        }
      case .failed(let failure)?:
        #expect(!failure.message.isEmpty, "HAUL_SEED=\(seed)")
        #expect(world.server.temper != .still, "HAUL_SEED=\(seed): \(failure) \(world.server)")
      case nil: Issue.record("HAUL_SEED=\(seed) did not end")
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
    var complete: [ServerScript.Temper: Int] = [:]
    var failures: Set<String> = []
    var (steals, startOvers, streams, repeated) = (0, 0, 0, 0)
    var (renewals, fallbacks, changed, comparisons) = (0, 0, 0, 0)
    for seed in 0..<600 as Range<UInt64> {
      var world = SimulatedWorld(seed: seed)
      world.run()
      if world.outcome == .complete { complete[world.server.temper, default: 0] += 1 }
      if case .failed(let failure)? = world.outcome {
        failures.insert("\(failure.kind)".prefix { $0 != "(" } + "")
      }
      if world.isStream { streams += 1 }
      steals += world.machine.scheduler?.stealCount ?? 0
      startOvers += world.startOvers
      repeated += world.machine.retryCount
      renewals += world.renewals
      fallbacks += world.fallbacks
      comparisons += world.comparisons
      if world.outcome == .complete, world.ledger.generations.contains(where: { $0 > 0 }) { changed += 1 }
    }
    #expect(complete[.still, default: 0] > 150)
    #expect(complete[.changing, default: 0] > 10 && complete[.hostile, default: 0] > 30)
    #expect(failures.isSuperset(of: ["network", "refused", "changed", "brokenProtocol"]))
    #expect(steals > 20)
    #expect(startOvers > 3)
    #expect(streams > 40)
    #expect(repeated > 300)
    #expect(renewals > 10 && fallbacks > 5 && changed > 5)
    #expect(comparisons > 0)
  }
}
