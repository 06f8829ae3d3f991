// SPDX-License-Identifier: Apache-2.0

/// What is left when a server stops doing what it did: conditions, ranges, links.
extension TransferMachine {
  /// So many answers in a row that are not the part that was asked for, and the server counts as one without
  /// ranges.
  static let mostRangeStrikes = 3
  /// A link is renewed at most so often, in seconds, while others still answer: a server that only wants fewer
  /// connections would else be asked for a new link each time.
  static let renewalPause = 30.0

  // MARK: Conditions

  /// A 412, or the whole file where a condition went along. The lease is asked for again without one: if the
  /// validator is equal then, the server only mishandles conditions, and else that answer raises the suspicion.
  mutating func conditionMishandled() {
    usesConditions = false
    retryCount += 1
  }

  // MARK: Ranges

  /// Not the part that was asked for. Tried again, until nobody gets a part any more.
  mutating func rangeRefused(
    _ failure: TransferFailure, connection: Int, now: Double, dice: Double
  ) {
    rangeStrikes += 1
    if rangeStrikes >= Self.mostRangeStrikes, !slots.contains(where: \.isReceiving) {
      retryCount += 1
      return fallBack(failure.message)
    }
    slots[connection].strikes += 1
    // Bounded by the strikes, and while others receive by their progress, so not counted against the retries: a
    // sibling that falls silent meanwhile has its own.
    let wait = settings.retry.wait(attempt: slots[connection].strikes, retryAfter: nil, dice: dice)
    retryCount += 1
    slots[connection].end(waitingUntil: now + wait)
  }

  /// Goes on with one answer of the whole file. What is written already stays where something proves that it
  /// is of the same generation, and is thrown away where nothing does.
  mutating func fallBack(_ why: String) {
    avoidsRanges = true
    guard let identity = resource?.identity, identity.strongest != nil || settings.hasTrustedDigest else {
      let reason = "\(why); nothing proves that another answer is of the same file"
      return startOver(TransferFailure(.brokenProtocol, reason))
    }
    abandonRequests()
    resource?.honoursRanges = false
    scheduler = nil
    streamPosition = 0
    phase = .stream
  }

  mutating func startOver(_ failure: TransferFailure) {
    abandonRequests()
    phase = .startingOver
    pending.append(.startOver(failure))
  }

  /// Takes nothing more from the requests that are under way.
  private mutating func abandonRequests() {
    comparison = nil
    for index in slots.indices where slots[index].isBusy { slots[index].refuse(.abandoned) }
  }

  // MARK: Links

  /// A link that came from a redirect, or that is signed, may have run out: the original URL is asked once for
  /// all connections. False where that was done already and has not helped.
  mutating func renewLink(of slot: ConnectionSlot, connection: Int, isExtra: Bool, now: Double) -> Bool {
    guard phase == .ranges || phase == .stream || phase == .learning && settings.beginsByLink else {
      return false
    }
    // Another connection asks already, or has the answer: this one goes on by the new link.
    if renewing == connection {
      // The original URL says no as well.
      renewing = nil
      renewedAt = now
      hasGainedSinceRenewal = false
      isRenewalRefused = true
      return false
    }
    if renewing != nil || slot.renewals < renewals {
      retryCount += 1
      return true
    }
    let isSoon = renewedAt.map { now - $0 < Self.renewalPause } ?? false
    // Where the original said no a moment ago, what others gain by the old link is no sign of a new one.
    guard !isSoon || (!isExtra && hasGainedSinceRenewal && !isRenewalRefused) else { return false }
    renewing = connection
    retryCount += 1
    return true
  }

  /// The original URL has led to an answer that was accepted.
  mutating func renewed(by connection: Int, now: Double) {
    renewing = nil
    renewals += 1
    slots[connection].renewals = renewals
    isRenewalRefused = false
    renewedAt = now
    hasGainedSinceRenewal = false
  }
}
