// SPDX-License-Identifier: Apache-2.0

/// Counts runs of attempts that brought nothing. Sixteen connections that a restarting server cuts at once
/// are one run, not sixteen.
package struct FailureCount: Sendable {
  package private(set) var count = 0
  private var pausedUntil = -Double.infinity

  package init() {}

  /// Whether the last attempts brought nothing and the next one is not due yet.
  package func isPausing(at now: Double) -> Bool { now < pausedUntil }

  /// New bytes have come: whatever failed before is over.
  package mutating func progressed() { self = FailureCount() }

  /// Notes a failure and returns when the next attempt is due.
  /// - Parameter strikes: how often in a row this connection has failed, whatever its siblings bring.
  package mutating func failed(
    policy: RetryPolicy, strikes: Int = 0, retryAfter: Int?, dice: Double, now: Double
  ) -> Double {
    let newRun = now >= pausedUntil
    if newRun { count += 1 }
    let due = now + policy.wait(attempt: max(1, count, strikes), retryAfter: retryAfter, dice: dice)
    if newRun { pausedUntil = due }
    return max(due, pausedUntil)
  }
}
