// SPDX-License-Identifier: Apache-2.0

import HaulPlatform
import TestSupport
import Testing

/// The headline promise over sockets: whatever an origin does, one of its files or an error that says so, and
/// under a digest never a wrong file.
///
/// A failure names its seed and what its server does: `HAUL_SEED=42 swift test --filter PromiseTests` runs that
/// one alone, `HAUL_SEEDS=5000` runs more. Without a digest two things cannot be known, and only there any bytes
/// pass (`OriginScript.Temper.lying`): wrong bytes or a wrong length under heads that agree with each other.
struct PromiseTests {
  fileprivate struct Progress {
    var next: UInt64
    var running: Set<UInt64> = []
    var problems: [String] = []
    var files: [OriginScript.Temper: Int] = [:]
    var errors: [OriginScript.Temper: Int] = [:]
    var workers: Int
  }

  /// Waits for a server's silence and for retries overlap; two cores carry more than two of them.
  private static let workers = 12
  /// In seconds, from one seed's end to the next one's. Only a hang ever waits so long.
  private static let patience = 120.0

  @Test("whatever an origin does: the file or an error")
  func promise() async throws {
    let seeds = Seeds(usually: 300).all
    let state = Monitor(Progress(next: seeds.lowerBound, workers: Self.workers))
    for number in 0..<Self.workers {
      startThread(name: "seeds-\(number)") { Self.work(state, until: seeds.upperBound) }
    }
    let left = await withCheckedContinuation { (done: CheckedContinuation<Set<UInt64>, Never>) in
      startThread(name: "seeds-watch") { done.resume(returning: Self.watch(state)) }
    }
    #expect(left.isEmpty, "these hang: \(left.sorted().map { "HAUL_SEED=\($0)" })")
    let progress = state.withLock { $0 }
    for problem in progress.problems { Issue.record("\(problem)") }
    guard seeds.count >= 300 else { return }
    // The scripts are hard, not hopeless.
    for temper in OriginScript.Temper.allCases {
      #expect(progress.files[temper, default: 0] > 10, "\(temper)")
      #expect(temper == .still || progress.errors[temper, default: 0] > 5, "\(temper)")
    }
  }

  private static func work(_ state: Monitor<Progress>, until end: UInt64) {
    while let seed = state.withLock({ $0.take(until: end) }) {
      do {
        let report = try ScriptedRun(seed: seed).run()
        state.signal { $0.note(report, of: seed) }
      } catch {
        state.signal { $0.problems.append("HAUL_SEED=\(seed): \(error)") }
      }
    }
    state.signal { $0.workers -= 1 }
  }

  /// Until every worker is done, or no seed ends any more. Returns those that are still running.
  private static func watch(_ state: Monitor<Progress>) -> Set<UInt64> {
    while true {
      let before = state.withLock { ($0.next, $0.running) }
      let moved = state.wait(seconds: patience) { $0.workers == 0 || ($0.next, $0.running) != before }
      if !moved || state.withLock({ $0.workers == 0 }) { return state.withLock { $0.running } }
    }
  }
}

extension PromiseTests.Progress {
  fileprivate mutating func note(_ report: ScriptedRun.Report, of seed: UInt64) {
    running.remove(seed)
    problems += report.problems
    if report.isComplete {
      files[report.temper, default: 0] += 1
    } else {
      errors[report.temper, default: 0] += 1
    }
  }

  /// The next seed, or nil when there is none left.
  fileprivate mutating func take(until end: UInt64) -> UInt64? {
    guard next < end else { return nil }
    defer { next += 1 }
    running.insert(next)
    return next
  }
}
