// SPDX-License-Identifier: Apache-2.0

/// The recent rate of one stream of bytes, in bytes a second, as an exponentially weighted mean over time.
package struct RateEstimator: Sendable {
  /// How far back the estimate remembers, in seconds.
  private let memory: Double
  private var counted = 0
  private var since: Double?
  private var finishedAt: Double?
  /// Nil before the first full sample.
  package private(set) var rate: Double?

  /// Samples shorter than this are noise: a whole receive buffer may arrive in one call.
  private static let shortestSample = 0.02
  /// Silence shorter than this says nothing: a stream that has just begun waits for its first round trips.
  private static let shortestSilence = 0.25
  /// How long the rate of an idle connection is worth anything, in seconds.
  private static let longestMemory = 60.0

  package init(memory: Double = 1) { self.memory = memory }

  /// Starts the clock of a stream that begins to flow (again).
  package mutating func begin(now: Double) {
    counted = 0
    since = now
  }

  /// Tells how many bytes have come since ``begin(now:)``, in all.
  package mutating func update(total: Int, now: Double) {
    guard let start = since else { return }
    let elapsed = now - start
    guard elapsed >= (total > counted ? Self.shortestSample : Self.shortestSilence) else { return }
    let sample = Double(total - counted) / elapsed
    if let old = rate {
      let weight = min(1, elapsed / memory)
      rate = old + weight * (sample - old)
    } else {
      rate = sample
    }
    counted = total
    since = now
  }

  /// Takes a short, finished stream as a sample, where none is known yet.
  package mutating func finish(total: Int, now: Double) {
    if rate == nil, let start = since, now > start, total > 0 { rate = Double(total) / (now - start) }
    since = nil
    finishedAt = now
  }

  /// Whether the last stream ended so short a time ago that its rate says something about others now.
  package func isFresh(at now: Double) -> Bool { finishedAt.map { now - $0 < Self.longestMemory } ?? false }

}
