// SPDX-License-Identifier: Apache-2.0

/// How many connections a download may keep busy: fixed, or found by trying.
///
/// Automatic: a handful first; twice as many while that brings clearly more; back by one step when it did not.
/// A refusal ends the climb at what works.
package struct ConnectionBudget: Sendable {
  package enum Choice: Sendable, Equatable {
    case automatic
    /// At least 1.
    case fixed(Int)
  }

  private static let first = 4
  private static let most = 16
  /// By how much the goodput must rise for a doubling to be kept.
  private static let worthwhile = 1.15
  /// How long one count is judged, in seconds and in round trips, whichever is longer: slow start must be over.
  private static let shortestWindow = 0.4
  private static let windowRoundTrips = 10.0
  /// The part of the connections that must have been receiving, on average, for a window to count.
  private static let fullness = 0.8
  /// After a refusal one more connection is tried each time this long has passed, in seconds.
  private static let refusalPause = 10.0

  private enum Climb { case climbing, settled }

  package let choice: Choice
  private var climb = Climb.climbing
  /// What the climb has reached.
  private var reached: Int
  /// What refusals have taught.
  private var cap = Int.max
  private var window: Window?
  private var before: (count: Int, rate: Double)?
  private var retryUpAt = Double.infinity

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
    guard choice == .automatic, case .climbing = climb else { return }
    guard var open = window else {
      // It opens when all of them receive: before that slow start of the new ones is not over.
      if busy >= allowed { window = Window(start: now, bytes: bytes, seenAt: now) }
      return
    }
    open.busySeconds += Double(min(busy, allowed)) * (now - open.seenAt)
    open.seenAt = now
    window = open
    let elapsed = now - open.start
    guard elapsed >= max(Self.shortestWindow, Self.windowRoundTrips * roundTrip) else { return }
    let rate = Double(bytes - open.bytes) / elapsed
    window = nil
    // Too many stood between two requests: that says nothing about the count.
    guard open.busySeconds >= Self.fullness * Double(allowed) * elapsed else { return }
    if let before, rate < before.rate * Self.worthwhile {
      reached = before.count
      climb = .settled
    } else if reached < min(Self.most, cap) {
      before = (reached, rate)
      reached = min(reached * 2, Self.most)
    } else {
      climb = .settled
    }
  }

  /// A connection beyond those that work was refused.
  /// - Parameter healthy: how many the server has not refused.
  package mutating func refused(healthy: Int, wait: Double, now: Double) {
    cap = max(1, min(cap, healthy))
    climb = .settled
    window = nil
    retryUpAt = now + max(wait, Self.refusalPause)
  }
}
