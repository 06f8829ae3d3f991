// SPDX-License-Identifier: Apache-2.0

/// How often and how soon a failed request is tried again.
package struct RetryPolicy: Sendable {
  /// How many runs of attempts in a row may bring not one new byte.
  package var limit: Int
  /// The first wait, in seconds; each further one doubles.
  package var firstWait = 0.25
  /// No wait is longer, unless the server asks for it.
  package var longestWait = 30.0

  package init(limit: Int = 5) { self.limit = limit }

  /// Seconds before attempt number `attempt` (1 is the first repetition).
  /// - Parameter dice: 0 ..< 1; spreads many clients that failed together.
  package func wait(attempt: Int, retryAfter: Int?, dice: Double) -> Double {
    let doubled = firstWait * Double(1 << min(max(0, attempt - 1), 20))
    let own = min(longestWait, doubled) * (0.5 + dice)
    guard let retryAfter else { return own }
    return max(own, Double(retryAfter) * (1 + 0.1 * dice))
  }
}
