// SPDX-License-Identifier: Apache-2.0

/// How a request ended, as seen from below HTTP.
package enum RequestEnding: Sendable, Equatable {
  case finished
  /// The owner ended it: its bytes were not wanted, or its head was refused.
  case stopped
  /// - `isPassing`: whether the same request may succeed later.
  case failed(TransferFailure, isPassing: Bool)
}

extension TransferMachine {
  /// So many first answers that make no sense, and the server counts as one without ranges.
  private static let mostBrokenAnswers = 2

  /// The last event of a request. What its lease did not bring is missing again.
  /// - Parameter dice: 0 ..< 1, spreads retries.
  package mutating func ended(connection: Int, _ ending: RequestEnding, now: Double, dice: Double) {
    guard slots[connection].isBusy else { return }
    let slot = slots[connection]
    slots[connection].end(waitingUntil: now)
    let wasWhole = scheduler?.end(connection: connection, now: now) ?? false
    if case .failed = ending { scheduler?.forget(connection: connection) }
    guard isFetching, slot.verdict != .abandoned else { return }
    // The last byte is here: how its connection ended no longer matters. Nor does it for a whole lease.
    if phase == .ranges, scheduler?.isComplete == true { return complete() }
    if wasWhole, !slot.isProbe { return }
    if slot.comparesPlace, let failure = comparisonFailure(slot, ending) {
      // Another place that does not answer is no reason to leave the one that does.
      comparison = nil
      retry(failure, connection: connection, retryAfter: nil, now: now, dice: dice)
    } else if let verdict = slot.verdict {
      settle(verdict, of: slot, connection: connection, now: now, dice: dice)
    } else if case .failed(let failure, let isPassing) = ending {
      // What one connection too many meets is no reason to give up those that bring bytes.
      let isExtra = !slot.isReceiving && !slot.servesAll && slots.contains(where: \.isReceiving)
      guard isPassing || isExtra else { return fail(failure) }
      interrupted(failure, slot: slot, connection: connection, now: now, dice: dice)
    } else if phase == .stream, slot.isReceiving {
      endOfStream(ending, connection: connection, now: now, dice: dice)
    } else if slot.bodyBytes == 0 || slot.isProbe {
      let what =
        slot.isReceiving ? "an answer that promised bytes brought none" : "no answer that can be read"
      let failure = TransferFailure(.brokenProtocol, what)
      retry(failure, connection: connection, retryAfter: nil, now: now, dice: dice)
    }
  }

  /// Why the bytes to compare did not come; nil where they did, or where the place itself is the answer.
  private func comparisonFailure(_ slot: ConnectionSlot, _ ending: RequestEnding) -> TransferFailure? {
    switch slot.verdict {
    case nil:
      // One that has brought something goes on where it was.
      if slot.bodyBytes == 0, case .failed(let failure, _) = ending { return failure }
      return nil
    case .elsewhere, .strange, .abandoned: return nil
    case .limited(let status, let retryAfter, _):
      return TransferFailure(.refused(status: status), Self.words(status: status, retryAfter: retryAfter))
    case .refused(let status, _, _):
      return TransferFailure(.refused(status: status), "the server answered \(status)")
    case .broken(let reason), .boundless(let reason): return TransferFailure(.brokenProtocol, reason)
    case .silent(let seconds): return TransferFailure(.network, "nothing came for \(seconds) s")
    case .suspect, .identity, .conditionMishandled, .unframed:
      return TransferFailure(.brokenProtocol, "an answer that does not fit the file")
    }
  }

  private mutating func settle(
    _ verdict: ConnectionSlot.Verdict, of slot: ConnectionSlot, connection: Int, now: Double, dice: Double
  ) {
    switch verdict {
    case .limited(let status, let retryAfter, let isExtra):
      let failure = TransferFailure(
        .refused(status: status), Self.words(status: status, retryAfter: retryAfter))
      if isExtra {
        limit(wait: Double(retryAfter ?? 0), now: now)
      } else if isOneTooMany(slot) {
        postpone(connection, retryAfter: retryAfter, now: now, dice: dice)
      } else {
        confirmation?.wasRefused = true
        retry(failure, connection: connection, retryAfter: retryAfter, now: now, dice: dice)
      }
    case .refused(let status, let isExtra, let isRenewable):
      let failure = TransferFailure(.refused(status: status), "the server answered \(status)")
      if status == 403, slot.isProbe, isOneTooMany(slot) {
        return postpone(connection, retryAfter: nil, now: now, dice: dice)
      }
      if [403, 404, 410].contains(status), isRenewable,
        renewLink(of: slot, connection: connection, isExtra: isExtra, now: now)
      {
        return
      }
      if isExtra {
        limit(wait: 0, now: now)
      } else if status == 403, phase == .ranges, !isRenewalRefused {
        // Some servers say "forbidden" when they mean "not so many". This file was allowed a moment ago, and the
        // other connections may just be between two leases, so that it has to be tried again to be known.
        retry(failure, connection: connection, retryAfter: nil, now: now, dice: dice)
      } else {
        fail(failure)
      }
    case .suspect(let change, let identity):
      suspect(change, identity, connection: connection, now: now, dice: dice)
    case .identity(let identity, let isOfRange):
      heard(identity, isOfRange: isOfRange, connection: connection, now: now, dice: dice)
    case .elsewhere(let place): compare(place: place, connection: connection)
    case .strange(let place): retryElsewhere(place, connection: connection, now: now, dice: dice)
    case .conditionMishandled:
      conditionMishandled()
    case .abandoned:
      break
    case .broken(let reason):
      broken(
        TransferFailure(.brokenProtocol, reason), slot: slot, connection: connection, now: now, dice: dice)
    case .boundless(let reason): fail(TransferFailure(.brokenProtocol, reason))
    case .silent(let seconds):
      let failure = TransferFailure(.network, "nothing came for \(seconds) s")
      interrupted(failure, slot: slot, connection: connection, now: now, dice: dice)
    case .unframed:
      fail(.unframed)
    }
  }

  /// A wait that somebody might take for a hang is told.
  private static func words(status: Int, retryAfter: Int?) -> String {
    let told = "the server answered \(status)"
    switch retryAfter {
    case RetryAfter.longest?:
      return told + " and asks for a wait of an hour or more; the next try is in an hour"
    case let seconds? where seconds >= 10: return told + " and asks for a wait of \(seconds) s"
    default: return told
    }
  }

  private mutating func broken(
    _ failure: TransferFailure, slot: ConnectionSlot, connection: Int, now: Double, dice: Double
  ) {
    if phase == .ranges, !slot.isProbe {
      return rangeRefused(failure, connection: connection, now: now, dice: dice)
    }
    if phase == .learning, !slot.isProbe { brokenAnswers += 1 }
    // Perhaps the server cannot answer a range; one stream of the whole file may still work.
    if phase == .learning, slot.asked != nil, brokenAnswers >= Self.mostBrokenAnswers {
      avoidsRanges = true
      retryCount += 1
    } else {
      retry(failure, connection: connection, retryAfter: nil, now: now, dice: dice)
    }
  }

  private mutating func interrupted(
    _ failure: TransferFailure, slot: ConnectionSlot, connection: Int, now: Double, dice: Double
  ) {
    if !slot.isReceiving, !slot.servesAll, slots.contains(where: \.isReceiving) {
      // Refused or cut before an answer while others work: one connection too many.
      return limit(wait: 0, now: now)
    }
    if !slot.isReceiving, isOneTooMany(slot) {
      return postpone(connection, retryAfter: nil, now: now, dice: dice)
    }
    retry(failure, connection: connection, retryAfter: nil, now: now, dice: dice)
  }

  /// Whether what serves all was turned away while others bring bytes.
  private func isOneTooMany(_ slot: ConnectionSlot) -> Bool {
    slot.servesAll && slots.contains(where: \.isReceiving)
  }

  /// Asks again later. Not a failure of the file: nobody begins anything meanwhile, so the others will be
  /// done.
  mutating func postpone(_ connection: Int, retryAfter: Int?, now: Double, dice: Double) {
    slots[connection].strikes += 1
    retryCount += 1
    let wait = settings.retry.wait(
      attempt: slots[connection].strikes, retryAfter: retryAfter, dice: dice)
    slots[connection].end(waitingUntil: now + wait)
  }

  /// There will be fewer from now on. Those that wait for an answer still count as working: if they are
  /// refused too, there will be fewer still.
  private mutating func limit(wait: Double, now: Double) {
    retryCount += 1
    budget.refused(healthy: busyConnections, wait: wait, now: now)
  }

  private mutating func endOfStream(_ ending: RequestEnding, connection: Int, now: Double, dice: Double) {
    guard let resource else { return }
    // A server that stopped telling the length has to bring the one that was told when the file was begun.
    if let length = resource.length ?? resumed?.grid.length {
      if streamPosition == length { return complete() }
      let failure = TransferFailure(.network, "the server ended after \(streamPosition) of \(length) bytes")
      return retry(failure, connection: connection, retryAfter: nil, now: now, dice: dice)
    }
    guard ending == .finished else {
      let failure = TransferFailure(.brokenProtocol, "an answer that stopped before its end")
      return retry(failure, connection: connection, retryAfter: nil, now: now, dice: dice)
    }
    guard !streamIsUnframed else { return fail(.unframed) }
    complete()
  }

  /// Tries again after a wait, as long as attempts bring new bytes now and then.
  mutating func retry(
    _ failure: TransferFailure, connection: Int, retryAfter: Int?, now: Double, dice: Double
  ) {
    slots[connection].strikes += 1
    lastFailure = failure
    let due = failures.failed(
      policy: settings.retry, strikes: slots[connection].strikes, retryAfter: retryAfter, dice: dice, now: now
    )
    guard failures.count <= settings.retry.limit else { return fail(failure) }
    retryCount += 1
    slots[connection].end(waitingUntil: due)
    guard phase == .stream, streamPosition > 0 else { return }
    // A stream begins again at its first byte. Only a strong validator proves that it is still the same file.
    if resource?.identity.strongest == nil || resource?.length == nil {
      let why = "\(failure.message), and the server cannot continue a broken answer"
      startOver(TransferFailure(failure.kind, why))
    }
  }
}
