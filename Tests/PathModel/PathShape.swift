// SPDX-License-Identifier: Apache-2.0

/// What lies between a client and a server, and what the server allows: the world in which a choice of connections
/// proves itself.
package struct PathShape: Sendable {
  package let name: String
  /// Of the file, in bytes.
  package var length: Int
  /// Of the bottleneck that all connections share, in bytes a second.
  package var rate: Double
  /// In seconds.
  package var roundTrip: Double
  /// The probability that a packet is lost.
  package var loss = 0.0
  /// The most that the server gives one connection, in bytes a second.
  package var connectionRate = Double.infinity
  /// How many requests are served at a time; more get a 503.
  package var connectionLimit = Int.max
  /// With more requests than these the server gives all together a quarter of the rate.
  package var punishesAbove = Int.max
  /// The connection, counted from 1 in the order of opening, that gets 400 bytes a second.
  package var trickling: Int?
  /// The connection that stops for ever after its first megabyte.
  package var stalling: Int?
  /// From this moment on the bottleneck has another rate.
  package var change: (at: Double, rate: Double)?

  package init(
    _ name: String, megabytes: Int, megabits: Double, milliseconds: Double, loss: Double = 0,
    _ tune: (inout PathShape) -> Void = { _ in }
  ) {
    self.name = name
    length = megabytes * 1_000_000
    rate = megabits * 1e6 / 8
    roundTrip = milliseconds / 1000
    self.loss = loss
    tune(&self)
  }

  func rate(at now: Double) -> Double {
    if let change, now >= change.at { return change.rate }
    return rate
  }
}
