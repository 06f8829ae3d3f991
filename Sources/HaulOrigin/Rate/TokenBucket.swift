// SPDX-License-Identifier: Apache-2.0

/// A token bucket told as a timetable: it keeps the time at which everything granted so far would have gone
/// out at exactly the rate. Whoever reserves bytes is told when to send them, in the order of asking, so
/// threads that share a bucket take fair turns. In any window of t seconds at most `rate * t` bytes and one
/// bucket go out.
package struct TokenBucket: Sendable, Equatable {
  /// Bytes per second, 1 or more.
  package private(set) var rate: Int
  /// How far the past may be made up for, nanoseconds: the size of the bucket.
  package let depth: Int
  /// When the bytes granted so far are paid for, nanoseconds on the caller's clock.
  private var paid: Int

  /// A bucket that is full at `now` (nanoseconds on any monotonic clock).
  package init(rate: Int, depth: Int = 20_000_000, now: Int) {
    self.rate = max(1, rate)
    self.depth = depth
    self.paid = now - depth
  }

  /// Bytes worth asking for at once, 1 byte to 256 KiB: what the rate sends in `nanoseconds`.
  package func slice(nanoseconds: Int) -> Int {
    max(1, min(256 << 10, Int(Double(rate) * Double(nanoseconds) / 1e9)))
  }

  /// Books `bytes` (at most 1 GiB) and returns how many nanoseconds after `now` they may be sent.
  package mutating func reserve(_ bytes: Int, now: Int) -> Int {
    // Rounded up: an error of a nanosecond each time must never make it faster than the rate.
    let cost = (bytes * 1_000_000_000 + rate - 1) / rate
    paid = max(paid, now - depth) + cost
    return max(0, paid - now)
  }

  /// Changes the rate of what is reserved from here on; debts stay as they are.
  package mutating func change(rate: Int) { self.rate = max(1, rate) }
}
