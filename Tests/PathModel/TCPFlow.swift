// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// One TCP connection as far as its speed goes: slow start, then CUBIC (RFC 9438), counted in packets.
struct TCPFlow {
  static let packet = 1448.0
  private static let initialWindow = 10.0
  private static let beta = 0.7
  private static let cubic = 0.4

  /// Which connection it is, counted from 1 in the order of opening.
  let number: Int
  private(set) var window = initialWindow
  private var threshold = Double.infinity
  private var largest = 0.0
  private var epoch: Double?
  /// One loss event a round trip.
  private var recoversUntil = 0.0
  /// A lost packet without enough others behind it waits for its timer.
  private(set) var silentUntil = 0.0
  private var usedAt = 0.0

  init(number: Int, now: Double) {
    self.number = number
    usedAt = now
  }

  /// Bytes a second that the window allows.
  func allows(roundTrip: Double, now: Double) -> Double {
    now < silentUntil ? 0 : window * Self.packet / roundTrip
  }

  /// A request goes out: a window that was not used for long is not believed any more.
  mutating func begin(roundTrip: Double, now: Double) {
    if now - usedAt > 0.2 + roundTrip {
      threshold = max(threshold == .infinity ? window : threshold, window * 0.75)
      window = min(window, Self.initialWindow)
      epoch = nil
    }
    usedAt = now
  }

  /// - Parameter isLimited: whether the window was what bounded its speed.
  mutating func acknowledge(packets: Double, isLimited: Bool, roundTrip: Double, now: Double) {
    usedAt = now
    guard isLimited else { return }
    if window < threshold {
      window += packets
      return
    }
    let start = epoch ?? now
    epoch = start
    if largest < window { largest = window }
    let k = cbrt(largest * (1 - Self.beta) / Self.cubic)
    let time = now - start + roundTrip - k
    let goal = Self.cubic * time * time * time + largest
    // As fast as Reno where CUBIC is slower.
    let reno = window + 0.53 * packets / window
    window = max(reno, min(goal, window + packets / 2))
  }

  mutating func lose(roundTrip: Double, now: Double) {
    guard now >= recoversUntil else { return }
    recoversUntil = now + roundTrip
    epoch = nil
    largest = window
    if window < 4 {
      // No three duplicates can come back.
      silentUntil = now + max(0.2, 2 * roundTrip)
      threshold = 2
      window = 1
    } else {
      window = max(2, window * Self.beta)
      threshold = window
    }
  }
}
