// SPDX-License-Identifier: Apache-2.0

/// The rate caps as one connection sees them: its own bucket, which lives as long as the connection and so
/// gives no burst to a new request, and the one that all share.
struct Pacer {
  private let state: Monitor<OriginState>
  /// Kept while a request without a cap is answered, so that its debts survive.
  private var own: TokenBucket?
  private var isCapped = false
  /// Set by the fault `slow`: holds for the rest of the connection.
  private var slowed: Int?

  init(state: Monitor<OriginState>) { self.state = state }

  /// Sets the cap that configuration and resource give to the next request, bytes per second; nil for none.
  mutating func limit(to rate: Int?) {
    guard let rate = [rate, slowed].compactMap({ $0 }).min() else {
      isCapped = false
      return
    }
    isCapped = true
    if own == nil { own = TokenBucket(rate: rate, now: Clock.monotonic()) }
    own?.change(rate: rate)
  }

  /// From here on no faster than this, bytes per second, in this and all later requests.
  mutating func slow(to rate: Int) {
    slowed = rate
    isCapped = true
    // A full bucket would send its 20 ms at once.
    if own == nil { own = TokenBucket(rate: rate, depth: 1_000_000, now: Clock.monotonic()) }
    own?.change(rate: rate)
  }

  /// Books at most `count` bytes; returns how many, and in how many nanoseconds they may be sent.
  mutating func reserve(_ count: Int, now: Int) -> (bytes: Int, delay: Int) {
    var bytes = count
    if isCapped, let own { bytes = min(bytes, own.slice(nanoseconds: 10_000_000)) }
    let (shared, sharedDelay) = state.withLock { state in
      if let slice = state.totalSlice(now: now) { bytes = min(bytes, slice) } else { return (bytes, 0) }
      return (bytes, state.reserveTotal(bytes, now: now))
    }
    guard isCapped else { return (shared, sharedDelay) }
    return (shared, max(sharedDelay, own?.reserve(shared, now: now) ?? 0))
  }
}
