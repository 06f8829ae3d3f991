// SPDX-License-Identifier: Apache-2.0

/// Answers "which bytes does connection k fetch next", and takes from slow connections for idle ones.
///
/// A value: time comes as an argument. Every byte of the file is at any moment exactly one of: there, missing,
/// or due in exactly one lease.
package struct Scheduler: Sendable {
  package let grid: ChunkGrid
  package var policy: LeasePolicy
  /// Neither there nor leased.
  package private(set) var missing: ByteRangeSet
  /// By connection.
  package private(set) var leases: [Int: Lease] = [:]
  private var rates: [Int: RateEstimator] = [:]
  /// Seconds from a request to its first byte, the smallest seen: what another request will cost.
  package private(set) var roundTrip = 0.0
  /// Where each lease was when it last moved, and when that was seen.
  private var progress: [Int: (position: Int, at: Double)] = [:]
  /// Connections whose whole lease was taken over: their requests are of no use any more.
  private var replaced: [Int] = []
  /// How often an idle connection took from a busy one.
  package private(set) var stealCount = 0

  /// - Parameter present: what needs no fetching.
  package init(grid: ChunkGrid, present: ByteRangeSet, policy: LeasePolicy = LeasePolicy()) {
    self.grid = grid
    self.policy = policy
    missing = ByteRangeSet(present.gaps(in: grid.whole))
  }

  /// Nothing is missing and nothing is under way.
  package var isComplete: Bool { missing.isEmpty && leases.isEmpty }

  package var remainingBytes: Int { missing.count + leases.values.reduce(0) { $0 + $1.remaining.count } }

  package func rate(of connection: Int) -> Double? { rates[connection]?.rate }

  // MARK: Giving

  /// Makes `range` the lease of a connection whose request is under way already (the first one).
  package mutating func adopt(_ range: ByteRange, connection: Int, now: Double) {
    guard let wanted = missing.intersection(range).first, wanted.lower == range.lower else { return }
    give(wanted, to: connection)
  }

  /// The next lease of an idle connection, or nil where nothing is left that is worth a request.
  /// - Parameters:
  ///   - connections: how many share the work.
  ///   - mayTakeOver: whether one that stands still may lose all it has: not while all of them do.
  package mutating func next(
    connection: Int, connections: Int, mayTakeOver: Bool = true, now: Double
  ) -> Lease? {
    precondition(leases[connection] == nil, "a connection has one lease at a time")
    if let gap = missing.first {
      let length = policy.length(
        rate: rates[connection]?.rate ?? typicalRate, roundTrip: roundTrip, remaining: missing.count,
        connections: connections)
      // Up to a chunk border: a chunk that two leases share is summed twice, and lost twice in a crash.
      let end = min(gap.upper, grid.border(after: min(gap.lower + length, grid.length) - 1))
      return give(ByteRange(gap.lower, end), to: connection)
    }
    return (mayTakeOver ? takeOver(for: connection, now: now) : nil) ?? steal(for: connection)
  }

  /// The connections whose leases were taken over since the last call.
  package mutating func takeReplaced() -> [Int] {
    defer { replaced = [] }
    return replaced
  }

  @discardableResult
  private mutating func give(_ range: ByteRange, to connection: Int) -> Lease {
    missing.remove(range)
    let lease = Lease(range)
    leases[connection] = lease
    return lease
  }

  /// Takes all that is left of a lease whose connection stands still, or is slow and too near its end to be shared: the
  /// last pieces of a file are not to wait for one connection.
  private mutating func takeOver(for connection: Int, now: Double) -> Lease? {
    for (other, lease) in leases.sorted(by: { $0.key < $1.key }) {
      let left = lease.remaining
      let silence = progress[other].map { now - $0.at } ?? 0
      let isStalled = silence > policy.stallSeconds(roundTrip: roundTrip)
      let seconds = rates[other]?.rate.map { Double(left.count) / max($0, 1) } ?? 0
      let isSlow =
        policy.cut(left, grid: grid) == nil && seconds > 2 * policy.stallSeconds(roundTrip: roundTrip)
      guard isStalled || isSlow, !left.isEmpty else { continue }
      replaced.append(other)
      leases[other]?.range.upper = lease.position
      let taken = Lease(left)
      leases[connection] = taken
      stealCount += 1
      return taken
    }
    return nil
  }

  /// Takes the far half of the lease that would finish last.
  private mutating func steal(for connection: Int) -> Lease? {
    var victim: (connection: Int, cut: Int, seconds: Double)?
    // In order, so that equal runs decide equally.
    for (other, lease) in leases.sorted(by: { $0.key < $1.key }) {
      let left = lease.remaining
      guard let cut = policy.cut(left, grid: grid) else { continue }
      // Without any measure a lease that has brought nothing yet is not called slow.
      guard let rate = rates[other]?.rate else { continue }
      let seconds = Double(left.count) / max(rate, 1)
      let isWorth = policy.isWorthStealing(
        seconds: seconds, roundTrip: roundTrip, fileLength: grid.length)
      if isWorth, seconds > victim?.seconds ?? 0 {
        victim = (other, cut, seconds)
      }
    }
    guard let victim, let lease = leases[victim.connection] else { return nil }
    let loot = ByteRange(victim.cut, lease.range.upper)
    leases[victim.connection]?.range.upper = victim.cut
    stealCount += 1
    let taken = Lease(loot)
    leases[connection] = taken
    return taken
  }

  /// The best rate of those that are at work, or were a short time ago.
  package func bestRate(now: Double) -> Double? {
    rates.filter { leases[$0.key] != nil || $0.value.isFresh(at: now) }.values.compactMap(\.rate).max()
  }

  private var typicalRate: Double? {
    let known = rates.values.compactMap(\.rate).sorted()
    return known.isEmpty ? nil : known.reduce(0, +) / Double(known.count)
  }

  // MARK: Taking

  /// The first byte of a lease has come `seconds` after its request.
  package mutating func answered(connection: Int, after seconds: Double, now: Double) {
    roundTrip = roundTrip == 0 ? seconds : min(roundTrip, seconds)
    // Only from here on: the way of the request is no part of the rate.
    rates[connection, default: RateEstimator()].begin(now: now)
    progress[connection] = (leases[connection]?.position ?? 0, now)
  }

  /// Notes `count` more bytes of a connection's lease and tells how many of them are wanted.
  package mutating func received(_ count: Int, connection: Int) -> Int {
    guard let lease = leases[connection] else { return 0 }
    let wanted = min(count, lease.range.upper - lease.position)
    leases[connection]?.position += wanted
    return wanted
  }

  /// Updates the measured rates. To be called every tenth of a second or so.
  package mutating func measure(now: Double) {
    for (connection, lease) in leases {
      if let seen = progress[connection], seen.position != lease.position {
        progress[connection] = (lease.position, now)
      }
      rates[connection]?.update(total: lease.position - lease.range.lower, now: now)
    }
  }

  /// A connection's request is over: what it did not bring is missing again.
  /// - Returns: whether the lease was brought whole.
  @discardableResult
  package mutating func end(connection: Int, now: Double) -> Bool {
    progress[connection] = nil
    guard let lease = leases.removeValue(forKey: connection) else { return false }
    rates[connection]?.finish(total: lease.position - lease.range.lower, now: now)
    missing.insert(lease.remaining)
    return lease.isDone
  }

  /// The connection itself is gone, and with it what was known of its speed.
  package mutating func forget(connection: Int) { rates[connection] = nil }

  /// Bytes that were thought to be there are not.
  package mutating func lose(_ range: ByteRange) {
    var lost = ByteRangeSet(range)
    for lease in leases.values { lost.remove(lease.remaining) }
    for piece in lost.ranges { missing.insert(piece) }
  }
}
