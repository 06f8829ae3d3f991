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
  /// The last event of a request. What its lease did not bring is missing again.
  /// - Parameter dice: 0 ..< 1, spreads retries.
  package mutating func ended(connection: Int, _ ending: RequestEnding, now: Double, dice: Double) {
    guard slots[connection].isBusy else { return }
    let slot = slots[connection]
    slots[connection].end(waitingUntil: now)
    let wasWhole = scheduler?.end(connection: connection, now: now) ?? false
    if case .failed = ending { scheduler?.forget(connection: connection) }
    guard phase != .failed, phase != .complete, phase != .startingOver else { return }
    if let verdict = slot.verdict {
      settle(verdict, of: slot, connection: connection, now: now, dice: dice)
    } else if case .failed(let failure, let isPassing) = ending {
      guard isPassing else { return fail(failure) }
      interrupted(failure, slot: slot, connection: connection, now: now, dice: dice)
    } else if slot.isAsking, scheduler?.isComplete != true {
      // Garbage instead of a head: neither accepted nor refused, and not to be asked for again without end.
      let failure = TransferFailure(.brokenProtocol, "an answer without a status")
      retry(failure, connection: connection, retryAfter: nil, now: now, dice: dice)
    } else if phase == .stream {
      endOfStream(slot: slot, connection: connection, now: now, dice: dice)
    } else if ending == .finished, slot.bodyBytes == 0, !wasWhole, slot.isReceiving {
      let failure = TransferFailure(.brokenProtocol, "an answer that promised bytes brought none")
      retry(failure, connection: connection, retryAfter: nil, now: now, dice: dice)
    }
    if phase == .ranges, scheduler?.isComplete == true { complete() }
  }

  private mutating func settle(
    _ verdict: ConnectionSlot.Verdict, of slot: ConnectionSlot, connection: Int, now: Double, dice: Double
  ) {
    let healthy = slots.count { $0.isReceiving }
    switch verdict {
    case .limited(let status, let retryAfter):
      let failure = TransferFailure(.refused(status: status), "the server answered \(status)")
      if healthy > 0 {
        limit(healthy: healthy, connection: connection, wait: Double(retryAfter ?? 0), now: now)
      } else {
        retry(failure, connection: connection, retryAfter: retryAfter, now: now, dice: dice)
      }
    case .refused(let status):
      // Some servers say "forbidden" when they mean "not so many".
      if status == 403, healthy > 0 {
        limit(healthy: healthy, connection: connection, wait: 0, now: now)
      } else {
        fail(TransferFailure(.refused(status: status), "the server answered \(status)"))
      }
    case .changed(let change):
      fail(TransferFailure(.changed, change.description))
    case .broken(let reason):
      if phase == .learning, slot.asked != nil, !avoidsRanges, resumed == nil {
        // Perhaps the server cannot answer a range; one stream of the whole file may still work.
        avoidsRanges = true
        retryCount += 1
      } else {
        let failure = TransferFailure(.brokenProtocol, reason)
        retry(failure, connection: connection, retryAfter: nil, now: now, dice: dice)
      }
    case .silent(let seconds):
      let failure = TransferFailure(.network, "nothing came for \(seconds) s")
      interrupted(failure, slot: slot, connection: connection, now: now, dice: dice)
    }
  }

  private mutating func interrupted(
    _ failure: TransferFailure, slot: ConnectionSlot, connection: Int, now: Double, dice: Double
  ) {
    let healthy = slots.count { $0.isReceiving }
    if healthy > 0, !slot.isReceiving {
      // Refused or cut before an answer while others work: one connection too many.
      return limit(healthy: healthy, connection: connection, wait: 0, now: now)
    }
    retry(failure, connection: connection, retryAfter: nil, now: now, dice: dice)
  }

  private mutating func limit(healthy: Int, connection: Int, wait: Double, now: Double) {
    retryCount += 1
    budget.refused(healthy: healthy, wait: wait, now: now)
    slots[connection].end(waitingUntil: now + max(wait, 0.5))
  }

  private mutating func endOfStream(slot: ConnectionSlot, connection: Int, now: Double, dice: Double) {
    guard let resource else { return }
    if let length = resource.length {
      if streamPosition == length { return complete() }
      let failure = TransferFailure(.network, "the server ended after \(streamPosition) of \(length) bytes")
      return retry(failure, connection: connection, retryAfter: nil, now: now, dice: dice)
    }
    if resource.framing == .closeDelimited, !settings.acceptsUnframed {
      let reason = "the server tells no length, so the end of its answer cannot be told from a cut"
      return fail(TransferFailure(.unframed, reason))
    }
    complete()
  }

  /// Tries again after a wait, as long as attempts bring new bytes now and then.
  private mutating func retry(
    _ failure: TransferFailure, connection: Int, retryAfter: Int?, now: Double, dice: Double
  ) {
    let due = failures.failed(policy: settings.retry, retryAfter: retryAfter, dice: dice, now: now)
    guard failures.count <= settings.retry.limit else { return fail(failure) }
    retryCount += 1
    slots[connection].end(waitingUntil: due)
    guard phase == .stream, streamPosition > 0 else { return }
    // A stream begins again at its first byte. Only a strong validator proves that it is still the same file.
    if resource?.identity.strongest == nil || resource?.length == nil {
      phase = .startingOver
      pending.append(.startOver(why: "\(failure.message), and the server cannot continue a broken answer"))
    }
  }
}
