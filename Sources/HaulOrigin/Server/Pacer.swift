// SPDX-License-Identifier: Apache-2.0

/// The rate caps as one connection sees them: its own bucket, which lives as long as the connection and so gives
/// no burst to a new request, and the one that all share.
struct Pacer {
  private let state: Monitor<OriginState>
  private var own: TokenBucket?
  /// Set by the fault `slow`: holds for the rest of the connection.
  private var slowed: Int?

  init(state: Monitor<OriginState>) { self.state = state }

  mutating func limit(to rate: Int) {
    let rate = min(rate, slowed ?? .max)
    if own == nil { own = TokenBucket(rate: rate, now: Clock.monotonic()) }
    own?.change(rate: rate)
  }

  /// No cap from configuration or resource any more; a slowed connection stays slow.
  mutating func unlimit() {
    if slowed == nil { own = nil }
  }

  mutating func slow(to rate: Int) {
    slowed = rate
    // A fresh bucket would send its first 20 ms at once.
    if own == nil { own = TokenBucket(rate: rate, depth: 1_000_000, now: Clock.monotonic()) }
    own?.change(rate: rate)
  }

  /// Books at most `count` bytes; returns how many, and in how many nanoseconds they may be sent.
  mutating func reserve(_ count: Int, now: Int) -> (bytes: Int, delay: Int) {
    var bytes = count
    if let own { bytes = min(bytes, own.slice(nanoseconds: 10_000_000)) }
    let (shared, sharedDelay) = state.withLock { state in
      if let slice = state.totalSlice(now: now) { bytes = min(bytes, slice) } else { return (bytes, 0) }
      return (bytes, state.reserveTotal(bytes, now: now))
    }
    return (shared, max(sharedDelay, own?.reserve(shared, now: now) ?? 0))
  }
}
