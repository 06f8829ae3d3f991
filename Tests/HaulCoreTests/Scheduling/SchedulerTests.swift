// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

private let mib = 1 << 20

@Suite("Scheduler")
struct SchedulerTests {
  /// A scheduler over `chunks` chunks of 1 MiB.
  private func scheduler(chunks: Int, present: [ByteRange] = []) -> Scheduler {
    Scheduler(grid: ChunkGrid(length: chunks * mib), present: ByteRangeSet(present))
  }

  /// Answers a connection at once and gives it a rate by `bytes` in one second.
  private func measured(_ scheduler: inout Scheduler, _ connection: Int, bytes: Int, roundTrip: Double = 0.01)
  {
    scheduler.answered(connection: connection, after: roundTrip, now: 0)
    _ = scheduler.received(bytes, connection: connection)
    scheduler.measure(now: 1)
  }

  // MARK: Giving

  @Test("the lowest missing byte comes first, around what is there")
  func lowestFirst() {
    var subject = scheduler(chunks: 100, present: [ByteRange(0, 3 * mib), ByteRange(5 * mib, 6 * mib)])
    let first = subject.next(connection: 0, connections: 4, now: 0)
    #expect(first?.range == ByteRange(3 * mib, 5 * mib), "a lease ends where a gap ends")
    let second = subject.next(connection: 1, connections: 4, now: 0)
    #expect(second?.range.lower == 6 * mib)
    subject.end(connection: 0, now: 1)
    #expect(subject.next(connection: 2, connections: 4, now: 1)?.range.lower == 3 * mib)
  }

  @Test(
    "a new connection gets the fixed length, or its share", arguments: [(100, 4), (16, 2), (8, 1), (1, 1)])
  func unmeasured(_ chunks: Int, _ expected: Int) {
    var subject = scheduler(chunks: chunks)
    #expect(subject.next(connection: 0, connections: 4, now: 0)?.range == ByteRange(0, expected * mib))
  }

  @Test("a measured connection gets what it brings in two seconds")
  func byTime() {
    var subject = scheduler(chunks: 1000)
    _ = subject.next(connection: 0, connections: 4, now: 0)
    measured(&subject, 0, bytes: 4 * mib)
    #expect(subject.end(connection: 0, now: 1) == true)
    #expect(subject.next(connection: 0, connections: 4, now: 1)?.range == ByteRange(4 * mib, 12 * mib))
    #expect(
      subject.next(connection: 1, connections: 4, now: 1)?.range.count == 8 * mib,
      "a new one is thought to be as fast as its siblings")
  }

  @Test("a lease lasts at least 50 round trips")
  func byRoundTrips() {
    var subject = scheduler(chunks: 1000)
    _ = subject.next(connection: 0, connections: 4, now: 0)
    measured(&subject, 0, bytes: 4 * mib, roundTrip: 0.4)
    subject.end(connection: 0, now: 1)
    #expect(subject.next(connection: 0, connections: 4, now: 1)?.range.count == 80 * mib)
  }

  @Test("a fast connection's lease stays near the frontier unless round trips forbid")
  func fast() {
    var subject = scheduler(chunks: 1000)
    _ = subject.next(connection: 0, connections: 4, now: 0)
    subject.answered(connection: 0, after: 0.001, now: 0)
    _ = subject.received(4 * mib, connection: 0)
    subject.measure(now: 0.1)
    subject.end(connection: 0, now: 0.1)
    #expect(subject.next(connection: 0, connections: 4, now: 0.1)?.range.count == 16 * mib)
  }

  @Test("leases shrink towards the end and cover every byte once", arguments: [1, 2, 4, 16])
  func shrinks(_ connections: Int) {
    var subject = scheduler(chunks: 200)
    _ = subject.next(connection: 0, connections: connections, now: 0)
    measured(&subject, 0, bytes: 4 * mib)
    subject.end(connection: 0, now: 1)
    var position = subject.missing.first?.lower ?? 0
    var last = Int.max
    while let lease = subject.next(connection: 0, connections: connections, now: 1) {
      #expect(lease.range.lower == position)
      #expect(lease.range.upper % mib == 0)
      #expect(lease.range.count <= max(last, mib))
      last = lease.range.count
      position = lease.range.upper
      _ = subject.received(lease.range.count, connection: 0)
      subject.end(connection: 0, now: 1)
    }
    #expect(last == mib)
    #expect(position == 200 * mib)
    #expect(subject.isComplete)
  }

  @Test("a lease ends at a chunk border, whatever its length", arguments: [1, 1000, mib - 1, mib, mib + 1])
  func borders(_ rate: Int) {
    var subject = Scheduler(grid: ChunkGrid(length: 50 * mib + 7), present: ByteRangeSet(ByteRange(0, 10)))
    _ = subject.next(connection: 0, connections: 1, now: 0)
    measured(&subject, 0, bytes: rate)
    subject.end(connection: 0, now: 1)
    while let lease = subject.next(connection: 0, connections: 1, now: 1) {
      #expect(lease.range.upper % mib == 0 || lease.range.upper == 50 * mib + 7)
      _ = subject.received(lease.range.count, connection: 0)
      subject.end(connection: 0, now: 1)
    }
    #expect(subject.isComplete)
  }

  @Test("a file as long as files can be")
  func huge() {
    var subject = Scheduler(grid: ChunkGrid(length: 1 << 62), present: ByteRangeSet())
    _ = subject.next(connection: 0, connections: 1, now: 0)
    subject.adopt(ByteRange((1 << 62) - 5, 1 << 62), connection: 1, now: 0)
    #expect(subject.remainingBytes == 1 << 62)
    #expect(subject.leases[1]?.range.upper == 1 << 62)
  }

  // MARK: Stealing

  @Test("an idle connection takes the far half of the lease that would finish last, at a chunk border")
  func steals() {
    var subject = scheduler(chunks: 16)
    for connection in 0...1 {
      subject.adopt(
        ByteRange(connection * 8 * mib, (connection + 1) * 8 * mib), connection: connection, now: 0)
    }
    subject.answered(connection: 0, after: 0.01, now: 0)
    subject.answered(connection: 1, after: 0.01, now: 0)
    #expect(subject.received(mib, connection: 0) == mib)
    #expect(subject.received(2 * mib, connection: 1) == 2 * mib)
    subject.measure(now: 1)
    let loot = subject.next(connection: 2, connections: 3, now: 1)
    // Connection 0 has 7 MiB to go at 1 MiB/s; the middle of 1...8 MiB is 4.5.
    #expect(loot?.range == ByteRange(5 * mib, 8 * mib))
    #expect(subject.leases[0]?.range == ByteRange(0, 5 * mib))
    #expect(subject.leases[0]?.isCutShort == true)
    #expect(subject.leases[1]?.range == ByteRange(8 * mib, 16 * mib))
    #expect(subject.stealCount == 1)
  }

  @Test("what comes behind the new end of a lease is not wanted")
  func beyond() {
    var subject = scheduler(chunks: 8)
    subject.adopt(ByteRange(0, 8 * mib), connection: 0, now: 0)
    measured(&subject, 0, bytes: mib)
    let loot = subject.next(connection: 1, connections: 2, now: 1)
    #expect(loot?.range == ByteRange(5 * mib, 8 * mib))
    #expect(subject.received(10 * mib, connection: 0) == 4 * mib)
    #expect(subject.leases[0]?.isDone == true)
    #expect(subject.received(1, connection: 0) == 0)
    #expect(subject.end(connection: 0, now: 2) == true)
    #expect(subject.missing.isEmpty)
    #expect(subject.remainingBytes == 3 * mib)
  }

  @Test("a lease that has no rate yet is left alone, also after ticks without an answer")
  func unmeasuredVictim() {
    var subject = scheduler(chunks: 8)
    subject.adopt(ByteRange(0, 8 * mib), connection: 0, now: 0)
    for tick in 1...100 { subject.measure(now: Double(tick) / 10) }
    #expect(subject.rate(of: 0) == nil)
    #expect(subject.next(connection: 1, connections: 2, now: 10) == nil)
  }

  @Test("the wait for an answer does not lower the rate")
  func rateFromAnswer() {
    var subject = scheduler(chunks: 100)
    subject.adopt(ByteRange(0, 50 * mib), connection: 0, now: 0)
    for tick in 1...20 { subject.measure(now: Double(tick) / 10) }
    subject.answered(connection: 0, after: 2, now: 2)
    _ = subject.received(mib, connection: 0)
    subject.measure(now: 3)
    #expect(subject.rate(of: 0) == Double(mib))
  }

  @Test("a lease that is done soon is not stolen from")
  func notWorthIt() {
    var subject = scheduler(chunks: 8)
    subject.adopt(ByteRange(0, 8 * mib), connection: 0, now: 0)
    subject.answered(connection: 0, after: 0.2, now: 0)
    _ = subject.received(3 * mib, connection: 0)
    subject.measure(now: 0.5)
    // 5 MiB at 6 MiB/s is more than 0.1 s and three round trips of 0.2 s, and less than five.
    subject.policy.stealRoundTrips = 5
    #expect(subject.next(connection: 1, connections: 2, now: 0.5) == nil)
    subject.policy.stealRoundTrips = 3
    #expect(subject.next(connection: 1, connections: 2, now: 0.5) != nil)
  }

  @Test("the last chunk of a lease is split where no border is left")
  func lastChunk() {
    var subject = scheduler(chunks: 8, present: [ByteRange(0, 6 * mib)])
    subject.adopt(ByteRange(6 * mib, 8 * mib), connection: 0, now: 0)
    measured(&subject, 0, bytes: mib)
    let half = 15 * mib / 2 - 65536
    #expect(subject.next(connection: 1, connections: 2, now: 1)?.range == ByteRange(half, 8 * mib))
  }

  @Test("pieces that are not worth two requests are not split")
  func smallPiece() {
    var subject = scheduler(chunks: 1)
    subject.adopt(ByteRange(0, mib), connection: 0, now: 0)
    measured(&subject, 0, bytes: mib - 2 * 65536 + 1)
    #expect(subject.next(connection: 1, connections: 2, now: 1) == nil)
  }

  @Test("the whole rest of a lease that stands still is taken over, once nothing else is missing")
  func stalled() {
    var subject = scheduler(chunks: 8)
    subject.adopt(ByteRange(0, 8 * mib), connection: 0, now: 0)
    measured(&subject, 0, bytes: 8 * mib - 10)
    #expect(
      subject.next(connection: 1, connections: 2, now: 1.4) == nil, "ten bytes that may come any moment")
    let lease = subject.next(connection: 1, connections: 2, now: 1.6)
    #expect(lease?.range == ByteRange(8 * mib - 10, 8 * mib))
    let (first, second) = (subject.takeReplaced(), subject.takeReplaced())
    #expect(first == [0] && second.isEmpty, "told once")
    #expect(subject.received(10, connection: 0) == 0, "what it brings after all is not wanted any more")
    #expect(subject.end(connection: 0, now: 2) == true)
    #expect(subject.missing.isEmpty && subject.remainingBytes == 10)
  }

  @Test("while bytes are missing elsewhere, nobody takes over")
  func stalledEarly() {
    var subject = scheduler(chunks: 8)
    subject.adopt(ByteRange(0, 2 * mib), connection: 0, now: 0)
    measured(&subject, 0, bytes: 10)
    #expect(subject.next(connection: 1, connections: 2, now: 100)?.range.lower == 2 * mib)
    let replaced = subject.takeReplaced()
    #expect(replaced.isEmpty)
  }

  @Test("a stolen end that was not brought is missing once")
  func stolenAndLost() {
    var subject = scheduler(chunks: 8)
    subject.adopt(ByteRange(0, 8 * mib), connection: 0, now: 0)
    measured(&subject, 0, bytes: mib)
    _ = subject.next(connection: 1, connections: 2, now: 1)
    subject.end(connection: 1, now: 1)
    #expect(subject.missing.ranges == [ByteRange(5 * mib, 8 * mib)])
    #expect(subject.end(connection: 0, now: 1) == false)
    #expect(subject.missing.ranges == [ByteRange(mib, 8 * mib)])
  }

  // MARK: Taking and losing

  @Test("what a lease did not bring is missing again")
  func rest() {
    var subject = scheduler(chunks: 8)
    let lease = subject.next(connection: 0, connections: 1, now: 0)
    #expect(subject.received(100, connection: 0) == 100)
    #expect(subject.end(connection: 0, now: 1) == false)
    #expect(subject.missing.ranges == [ByteRange(100, 8 * mib)])
    #expect(lease?.range.lower == 0)
    #expect(subject.end(connection: 0, now: 1) == false, "there is no lease any more")
    #expect(subject.received(5, connection: 0) == 0)
  }

  @Test("adopting takes only what is missing from the range's start on")
  func adopt() {
    var subject = scheduler(chunks: 8, present: [ByteRange(2 * mib, 3 * mib)])
    subject.adopt(ByteRange(0, 4 * mib), connection: 0, now: 0)
    #expect(subject.leases[0]?.range == ByteRange(0, 2 * mib))
    subject.adopt(ByteRange(2 * mib, 4 * mib), connection: 1, now: 0)
    #expect(subject.leases[1] == nil, "its first byte is there")
  }

  @Test("lost bytes are missing again, but not those that are due anyway")
  func lose() {
    var subject = scheduler(chunks: 8)
    subject.adopt(ByteRange(0, 4 * mib), connection: 0, now: 0)
    _ = subject.received(mib + 5, connection: 0)
    subject.lose(ByteRange(0, 3 * mib))
    #expect(subject.missing.ranges == [ByteRange(0, mib + 5), ByteRange(4 * mib, 8 * mib)])
    #expect(subject.leases[0]?.remaining == ByteRange(mib + 5, 4 * mib))
    #expect(subject.remainingBytes == 8 * mib)
  }

  @Test("the round trip is the shortest that was seen")
  func roundTrip() {
    var subject = scheduler(chunks: 8)
    for seconds in [0.3, 0.1, 0.2] { subject.answered(connection: 0, after: seconds, now: 0) }
    #expect(subject.roundTrip == 0.1)
  }
}
