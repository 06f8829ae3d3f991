// SPDX-License-Identifier: Apache-2.0

/// Connections that are far behind the others: some servers give one a trickle, and a new one what the rest get.
extension TransferMachine {
  /// A connection below this part of the best one's rate is far behind.
  private static let slowest = 1.0 / 8
  /// Seconds without a byte from anybody after which nobody is behind.
  private static let pause = 1.0

  /// Whether bytes come. Where nothing comes at all, old rates say nothing about who is slow: that is for the
  /// silence to tell.
  func flows(now: Double) -> Bool { now - paced.at < Self.pause }

  /// Ends those that have been far behind for long enough; what they did not bring is given to others. Where all are
  /// slow nobody is.
  mutating func replaceSlow(now: Double) {
    if receivedBytes != paced.bytes { paced = (receivedBytes, now) }
    guard phase == .ranges, let scheduler, let best = scheduler.bestRate(now: now) else { return }
    let flows = flows(now: now)
    for index in slots.indices where slots[index].isReceiving {
      let rate = scheduler.rate(of: index)
      let left = Double(scheduler.leases[index]?.remaining.count ?? 0)
      // One that is nearly done is done sooner than another could begin.
      let isBehind = rate.map { $0 < best * Self.slowest && left > $0 * settings.paceSeconds } ?? false
      guard
        slots[index].isTooSlow(isBehind && flows && !slots[index].isHeld, for: settings.paceSeconds, now: now)
      else {
        continue
      }
      slots[index].replace()
      self.scheduler?.forget(connection: index)
      retryCount += 1
    }
  }

  /// Gives up connections, those with most left to bring first, until so many are at work.
  mutating func shed(down count: Int) {
    let working = slots.indices.filter { slots[$0].isReceiving }
    let left = { [scheduler] (index: Int) in scheduler?.leases[index]?.remaining.count ?? 0 }
    for index in working.sorted(by: { (left($0), $0) > (left($1), $1) }).prefix(max(0, working.count - count))
    {
      slots[index].replace()
    }
  }
}
