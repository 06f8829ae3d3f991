// SPDX-License-Identifier: Apache-2.0

/// A link that leads to another place than before: a renewed one, or a redirect to another mirror.
///
/// A validator means something within one place only: two files of one size and one time have one ETag at
/// nginx. Where no digest tells in the end, bytes of another place are taken only after some of them were
/// compared.
extension TransferMachine {
  /// So often everything is begun anew because of that.
  static let mostBeginnings = 3

  /// What speaks against bytes from `place`.
  enum PlaceObjection: Equatable {
    /// Without a validator and without a digest, bytes belong together only while everything stays the same,
    /// the final URL included.
    case unproven
    /// Not compared yet.
    case elsewhere
    /// Compared, and its bytes are others.
    case strange
  }

  func objection(to place: AnswerPlace) -> PlaceObjection? {
    guard let resource, !places.contains(place.source) else { return nil }
    switch resource.identity.tier(hasTrustedDigest: settings.hasTrustedDigest) {
    case .none: return .unproven
    case .digest: return nil
    case .strongETag, .strongDate:
      if settings.hasTrustedDigest { return nil }
      return strangePlaces.contains(place.source) ? .strange : .elsewhere
    }
  }

  /// Why the head of a part from `place` is not taken; nil where it may be.
  func refusal(of place: AnswerPlace, for slot: ConnectionSlot) -> ConnectionSlot.Verdict? {
    if slot.comparesPlace {
      // Led on from the place that is being compared: then that one is what counts.
      return comparison?.place == place.source ? nil : .elsewhere(place.source)
    }
    switch objection(to: place) {
    case nil: return nil
    case .unproven?: return .broken("an answer from another place (\(place.source)) without a validator")
    case .elsewhere?: return .elsewhere(place.source)
    case .strange?: return .strange(place.source)
    }
  }

  /// An answer with the right validator came from another place.
  mutating func compare(place: String, connection: Int) {
    retryCount += 1
    // Another one is compared already; this lease is given again afterwards.
    if let open = comparison, open.connection != connection { return }
    comparisons += 1
    guard comparisons <= Self.mostConfirmations else {
      comparison = nil
      return fail(TransferFailure(.elsewhere, "the link leads from place to place, the last one is \(place)"))
    }
    comparison = PlaceComparison(connection: connection, place: place)
    pending.append(.compare(connection: connection))
  }

  /// The owner has chosen what to compare: some chunks that are there. None where there is no whole one.
  /// - Parameters:
  ///   - mayCome: whether there may be one soon by itself: some are being proven or written.
  ///   - dice: 0 ..< 1, spreads retries.
  package mutating func compare(with ranges: [ByteRange], mayCome: Bool, now: Double, dice: Double) {
    guard let open = comparison, isFetching else { return }
    guard ranges.isEmpty else {
      comparison?.missing = ranges
      return
    }
    comparison = nil
    if mayCome || slots.contains(where: \.isReceiving) {
      // Soon there will be one.
      comparisons -= 1
      return postpone(open.connection, retryAfter: nil, now: now, dice: dice)
    }
    beginAnew(
      "the link leads to another place now (\(open.place)), and there is nothing yet to compare it by")
  }

  mutating func advanceComparison(_ open: PlaceComparison, now: Double) {
    guard slots[open.connection].isFree(at: now), let missing = open.missing, !open.isJudged else { return }
    guard let range = missing.first else {
      comparison?.isJudged = true
      return pending.append(.judgeComparison)
    }
    let request = PartRequest(range: range, comparesPlace: true)
    slots[open.connection].begin(request, renewals: renewals, now: now)
    pending.append(.request(connection: open.connection, request))
  }

  /// The owner has compared.
  /// - Parameter dice: 0 ..< 1, spreads retries.
  package mutating func compared(isEqual: Bool, now: Double, dice: Double) {
    guard let open = comparison, isFetching else { return }
    comparison = nil
    if isEqual {
      places.insert(open.place)
      if renewing == open.connection { renewed(by: open.connection, now: now) }
    } else {
      strangePlaces.insert(open.place)
      retryElsewhere(open.place, connection: open.connection, now: now, dice: dice)
    }
  }

  /// Perhaps the next redirect leads to a place that has the file; if not, what is there stays as it is.
  mutating func retryElsewhere(_ place: String, connection: Int, now: Double, dice: Double) {
    let why = "the link leads to another place now (\(place)), and the bytes there are others"
    retry(
      TransferFailure(.elsewhere, why), connection: connection, retryAfter: nil, now: now, dice: dice)
  }

  /// Notes bytes that are only compared.
  mutating func receivedToCompare(_ count: Int, connection: Int) -> (wanted: Int, goesOn: Bool) {
    let allowed = slots[connection].take(count)
    let wanted = comparison?.received(allowed) ?? 0
    comparedBytes += wanted
    // Bounded by `comparisons`.
    if wanted > 0 { failures.progressed() }
    return (wanted, wanted == count)
  }

  /// Throws away what is there and begins anew, unless the user wants to keep it.
  mutating func beginAnew(_ why: String) {
    let failure = TransferFailure(.elsewhere, why)
    beginnings += 1
    if settings.restartsOnChange, beginnings <= Self.mostBeginnings {
      startOver(failure)
    } else {
      fail(failure)
    }
  }
}
