// SPDX-License-Identifier: Apache-2.0

/// How many connections a download may keep busy: fixed, or found by trying.
///
/// Automatic: a handful first; twice as many while that brings clearly more. What a step has brought is judged in round
/// trips, once the new connections have begun to flow. A step that brought nothing ends the climb for a while; one
/// after which the total falls is taken back at once. A refusal ends the climb at what works.
package struct ConnectionBudget: Sendable {
  package enum Choice: Sendable, Equatable {
    case automatic
    /// At least 1.
    case fixed(Int)
  }

  private static let first = 8
  private static let most = 64
  /// Up to so many, more of them are tried for a small gain; beyond, a doubling has to bring a third more.
  private static let modest = 16
  private static let smallGain = 1.1
  private static let largeGain = 1.33
  /// Below this part of what came before a step, the server punishes it.
  private static let fall = 0.6
  /// After a step so many round trips pass before it is judged, by what comes in so many more.
  private static let settlingRoundTrips = 3.0
  private static let windowRoundTrips = 3.0
  /// Seconds, where a round trip is too short to mean anything.
  private static let shortestWindow = 0.1
  /// The part of the connections that must have been receiving, on average, for a window to count.
  private static let fullness = 0.7
  /// A climb that has ended is tried again after so many seconds, and each time after twice as many.
  private static let firstPause = 2.0
  /// After a refusal one more connection is tried each time this long has passed, in seconds.
  private static let refusalPause = 10.0

  private enum Climb {
    case climbing
    /// It may go on at this time, in seconds.
    case resting(until: Double)
  }

  package let choice: Choice
  private var climb = Climb.climbing
  private var pause = firstPause
  /// What the climb has reached.
  private var reached: Int
  /// What refusals have taught.
  private var cap = Int.max
  /// What a fall of the total has taught.
  private var ceiling = most
  private var window: Window?
  private var before: (count: Int, rate: Double)?
  private var retryUpAt = Double.infinity
  /// Those above the allowed count are to end at once, not with their leases.
  private var isShedding = false
  /// When the present count was allowed.
  private var steppedAt: Double?

  private struct Window {
    let start: Double
    let bytes: Int
    /// The connections that were receiving, summed over time.
    var busySeconds = 0.0
    var seenAt: Double
  }

  package init(_ choice: Choice) {
    self.choice = choice
    switch choice {
    case .automatic: reached = Self.first
    case .fixed(let count): reached = max(1, count)
    }
  }

  /// How many connections may be busy now.
  package var allowed: Int { min(reached, cap) }

  /// How many there may ever be: the number of slots, and what buffers are sized by.
  package var most: Int {
    if case .fixed(let count) = choice { return max(1, count) }
    return Self.most
  }

  /// Judges the present count by what has come in.
  /// - Parameters:
  ///   - bytes: all bytes received so far.
  ///   - busy: connections that are receiving.
  ///   - roundTrip: seconds.
  package mutating func measure(bytes: Int, busy: Int, roundTrip: Double, now: Double) {
    if now >= retryUpAt {
      // A refusal may have passed: one more is tried.
      cap += 1
      retryUpAt = cap < reached ? now + Self.refusalPause : .infinity
    }
    guard choice == .automatic else { return }
    if case .resting(let until) = climb {
      guard now >= until else { return }
      climb = .climbing
      before = nil
      window = nil
    }
    let stepped = steppedAt ?? now
    steppedAt = stepped
    let trip = max(roundTrip, Self.shortestWindow / Self.windowRoundTrips)
    guard now >= stepped + (before == nil ? 0 : Self.settlingRoundTrips * trip) else { return }
    guard var open = window else {
      window = Window(start: now, bytes: bytes, seenAt: now)
      return
    }
    open.busySeconds += Double(min(busy, allowed)) * (now - open.seenAt)
    open.seenAt = now
    window = open
    let elapsed = now - open.start
    guard elapsed >= Self.windowRoundTrips * trip else { return }
    window = nil
    // Too many stood between two requests: that says nothing about the count.
    guard open.busySeconds >= Self.fullness * Double(allowed) * elapsed else { return }
    judge(rate: Double(bytes - open.bytes) / elapsed, now: now)
  }

  private mutating func judge(rate: Double, now: Double) {
    if let before {
      if rate < before.rate * Self.fall {
        ceiling = before.count
        reached = before.count
        isShedding = true
        return rest(now: now)
      }
      let needed = reached > Self.modest ? Self.largeGain : Self.smallGain
      if rate < before.rate * needed { return rest(now: now) }
    }
    guard reached < min(Self.most, cap, ceiling) else { return rest(now: now) }
    before = (reached, rate)
    reached = min(reached * 2, Self.most, ceiling)
    steppedAt = now
  }

  private mutating func rest(now: Double) {
    climb = .resting(until: now + pause)
    pause *= 2
  }

  /// Whether connections above the allowed count are to be given up now. True once.
  package mutating func takeShedding() -> Bool {
    defer { isShedding = false }
    return isShedding
  }

  /// A connection beyond those that work was refused.
  /// - Parameter healthy: how many the server has not refused.
  package mutating func refused(healthy: Int, wait: Double, now: Double) {
    cap = max(1, min(cap, healthy))
    climb = .resting(until: .infinity)
    window = nil
    retryUpAt = now + max(wait, Self.refusalPause)
  }
}
