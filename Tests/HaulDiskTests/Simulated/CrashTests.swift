// SPDX-License-Identifier: Apache-2.0

import Foundation
import HaulPlatform
import TestSupport
import Testing

@testable import HaulDisk

/// The invariants of Docs/durability.md under simulated power losses and kills at every moment of random lives.
///
/// `HAUL_CRASH_SEEDS` and `HAUL_CRASH_SAMPLES` ask for more lives, and more outcomes of each power loss.
@Suite struct CrashTests {
  static let seeds = number("HAUL_CRASH_SEEDS") ?? 10
  static let samples = number("HAUL_CRASH_SAMPLES") ?? 2

  private static func number(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
  }

  @Test(arguments: [true, false], 1...seeds)
  func `whatever a crash leaves is right, or is fetched again`(syncs: Bool, seed: Int) throws {
    let scenario = try CrashScenario(seed: UInt64(seed), syncs: syncs)
    try scenario.run()
    let problem = firstProblem(of: scenario, seed: UInt64(seed), samples: Self.samples)
    #expect(problem == nil, "seed \(seed)")
  }

  /// Every place of the protocol that syncs, by what it is part of and its order there.
  static let points = [
    "first commit 1: part", "first commit 2: manifest", "first commit 3: directory", "commit 1: part",
    "commit 2: manifest", "stop 1: part", "stop 2: manifest", "stop 3: directory", "adopt 1: manifest",
    "adopt 2: directory", "distrust 1: manifest", "distrust 2: manifest", "mismatch 2: manifest",
    "mismatch 3: directory", "clear 1: directory", "finish 1: part", "finish 2: directory",
    "finish 3: directory",
  ]
  /// Places whose loss alone changes nothing that was promised.
  static let spare = [
    // What the first of the two slots protects, should the second one be torn, is being thrown away.
    "mismatch 1: manifest",
    // The commit that marks what was proven syncs it again; this one only lets the cache be dropped.
    "rescue 1: part",
  ]

  @Test(arguments: points) func `a sync that is left out is noticed`(point: String) throws {
    let phase = String(point.prefix { !$0.isNumber }.dropLast())
    for seed in 1...UInt64(60) {
      let scenario = try CrashScenario(seed: seed, omitting: point)
      do { try scenario.run(favouring: phase) } catch { continue }
      if firstProblem(of: scenario, seed: seed, samples: 6, onlyAfterOmission: true) != nil { return }
    }
    Issue.record("nothing fails without it")
  }

  @Test func `every sync is in one of the two lists`() throws {
    var met: Set<String> = []
    for seed in 1...UInt64(20) {
      let scenario = try CrashScenario(seed: seed)
      try scenario.run(favouring: seed % 2 == 0 ? "distrust" : "mismatch")
      met.formUnion(scenario.disk.state.withLock { $0.points })
    }
    #expect(met == Set(Self.points + Self.spare))
  }

  /// The first moment at which something does not hold.
  private func firstProblem(
    of scenario: CrashScenario, seed: UInt64, samples: Int, onlyAfterOmission: Bool = false
  ) -> String? {
    var dice = SeededGenerator(seed: seed ^ 0xC0FFEE)
    let (moments, omitted) = scenario.disk.state.withLock { ($0.moments + [$0.log], $0.omittedAt) }
    for (moment, log) in moments.enumerated() {
      if onlyAfterOmission, !omitted.contains(where: { (0..<25).contains(moment - $0) }) { continue }
      let check = CrashCheck(belief: scenario.belief(at: moment), syncs: scenario.syncs)
      if let problem = check.problem(in: log.afterKill) { return "killed at \(moment): \(problem)" }
      for sample in 0..<samples {
        guard let problem = check.problem(in: log.afterPowerLoss(&dice)) else { continue }
        return "power lost at \(moment), outcome \(sample): \(problem)"
      }
    }
    return nil
  }
}
