// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

@Suite("RetryPolicy")
struct RetryPolicyTests {
  @Test(
    "waits double up to the longest",
    arguments: [
      (-1, 0.25), (0, 0.25), (1, 0.25), (2, 0.5), (3, 1), (7, 16), (8, 30), (100, 30), (Int.max, 30),
    ] as [(Int, Double)])
  func doubles(_ attempt: Int, _ seconds: Double) {
    let policy = RetryPolicy()
    #expect(policy.wait(attempt: attempt, retryAfter: nil, dice: 0.5) == seconds)
    #expect(policy.wait(attempt: attempt, retryAfter: nil, dice: 0) == seconds / 2)
    #expect(policy.wait(attempt: attempt, retryAfter: nil, dice: 0.999) < seconds * 1.5)
  }

  @Test("Retry-After is never undercut", arguments: [0.0, 0.3, 0.999])
  func retryAfter(_ dice: Double) {
    let policy = RetryPolicy()
    let wait = policy.wait(attempt: 1, retryAfter: 120, dice: dice)
    #expect(wait >= 120 && wait <= 132)
    #expect(policy.wait(attempt: 6, retryAfter: 1, dice: dice) >= 4, "nor is the own wait")
  }
}

@Suite("FailureCount")
struct FailureCountTests {
  private let policy = RetryPolicy()

  @Test("sixteen connections cut at once are one run, and none comes back before the first")
  func together() {
    var failures = FailureCount()
    var dues: [Double] = []
    for index in 0..<16 {
      dues.append(
        failures.failed(
          policy: policy, retryAfter: nil, dice: Double(15 - index) / 16, now: Double(index) / 1000))
    }
    #expect(failures.count == 1)
    #expect(dues.allSatisfy { $0 >= dues[0] })
  }

  @Test("each run after a wait counts, and waits longer")
  func runs() {
    var failures = FailureCount()
    var now = 0.0
    var waits: [Double] = []
    for run in 1...5 {
      let due = failures.failed(policy: policy, retryAfter: nil, dice: 0.5, now: now)
      waits.append(due - now)
      now = due
      #expect(failures.count == run)
    }
    #expect(waits == [0.25, 0.5, 1, 2, 4])
  }

  @Test("progress ends the run and what it had to wait for")
  func progress() {
    var failures = FailureCount()
    _ = failures.failed(policy: policy, retryAfter: 3600, dice: 0, now: 0)
    failures.progressed()
    #expect(failures.count == 0)
    let due = failures.failed(policy: policy, retryAfter: nil, dice: 0.5, now: 1)
    #expect(failures.count == 1)
    #expect(due == 1.25)
  }

  @Test("one connection that always fails waits longer although its siblings bring bytes")
  func strikes() {
    var failures = FailureCount()
    var waits: [Double] = []
    for strike in 1...4 {
      waits.append(failures.failed(policy: policy, strikes: strike, retryAfter: nil, dice: 0.5, now: 0))
      failures.progressed()
    }
    #expect(waits == [0.25, 0.5, 1, 2])
  }
}
