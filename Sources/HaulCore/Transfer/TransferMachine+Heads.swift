// SPDX-License-Identifier: Apache-2.0

extension TransferMachine {
  /// Judges the head of a response; nothing of its body may be used before.
  /// - Parameter wallClock: seconds since 1970.
  package mutating func judge(
    _ head: ResponseHead, connection: Int, place: AnswerPlace = AnswerPlace(), now: Double, wallClock: Int
  ) -> HeadDecision {
    guard slots[connection].isAsking, isFetching else { return .stop }
    if slots[connection].isProbe {
      return judgeProbe(head, connection: connection, place: place, wallClock: wallClock)
    }
    switch expectation(for: slots[connection], wallClock: wallClock).judge(head) {
    case .partial(let range, let total, let overlap):
      let part = AcceptedPart(range: range, total: total, overlap: overlap)
      return acceptPartial(part, head: head, connection: connection, place: place, now: now)
    case .whole(let length, let framing):
      return acceptWhole(
        length: length, framing: framing, head: head, connection: connection, place: place, now: now)
    case .empty:
      return acceptEmpty(head: head, connection: connection, place: place)
    case .redirect(let location):
      return .redirect(location: location)
    case .limited(let status, let retryAfter):
      let isExtra = slots.contains(where: \.isReceiving) && !slots[connection].servesAll
      slots[connection].refuse(.limited(status: status, retryAfter: retryAfter, isExtra: isExtra))
      return .discard
    case .refused(let status):
      // Some servers say "forbidden" when they mean "not so many". The last one that is told so believes it.
      let isExtra = status == 403 && busyConnections > 1
      slots[connection].refuse(.refused(status: status, isExtra: isExtra, isRenewable: place.isRenewable))
      return .discard
    case .changed(let change):
      return suspect(change, Identity(head: head), connection: connection)
    case .conditionFailed:
      slots[connection].refuse(.conditionMishandled)
      return .discard
    case .broken(let reason):
      // With a condition the whole file may be all that the server makes of it.
      let isByCondition = head.status == 200 && slots[connection].request?.condition != nil
      slots[connection].refuse(isByCondition ? .conditionMishandled : .broken(reason))
      return .stop
    case .boundless(let reason):
      slots[connection].refuse(.boundless(reason))
      return .stop
    }
  }

  private func expectation(for slot: ConnectionSlot, wallClock: Int) -> Expectation {
    var expectation = Expectation(
      asked: slot.asked, known: resource?.identity, storedLength: resumed?.grid.length,
      acceptsWhole: phase == .learning || phase == .stream, now: wallClock)
    expectation.isConditional = slot.request?.condition != nil
    expectation.ignoresTags = ignoresTags
    expectation.hasTrustedDigest = settings.hasTrustedDigest
    if phase == .stream, !holdsBytes {
      // Nothing is there yet that another version could mix with, so this answer is as good as the first one.
      expectation.known = nil
      expectation.storedLength = resource?.length
    }
    expectation.refusesPages = resource.map { !$0.isPage } ?? false
    return expectation
  }

  /// Whether a web page would be somebody else's answer. Of an earlier run the type is not known, but a login
  /// page must not pass for a new version of it.
  var refusesPages: Bool { resource.map { !$0.isPage } ?? (resumed != nil && !settings.mayBePage) }

  /// A redirect is followed: the same request goes out again. False where nobody waits for its answer any
  /// more: what was given up while the redirect came is ended instead.
  package mutating func redirected(connection: Int, now: Double) -> Bool {
    guard isFetching, slots[connection].isAsking else { return false }
    slots[connection].beginAgain(now: now)
    return true
  }

  private mutating func suspect(
    _ change: ResourceChange, _ identity: Identity, connection: Int
  ) -> HeadDecision {
    slots[connection].refuse(.suspect(change, identity))
    return .stop
  }

  /// What the first answer of this run shows against the bytes of an earlier one.
  private mutating func objection(
    to identity: Identity, head: ResponseHead, connection: Int
  ) -> HeadDecision? {
    guard let change = change(in: identity) else { return nil }
    guard !head.isPage || !refusesPages else {
      slots[connection].refuse(.broken("a web page (text/html) instead of the file"))
      return .stop
    }
    return suspect(change, identity, connection: connection)
  }

  /// What an accepted 206 brings.
  private struct AcceptedPart {
    let range: ByteRange
    let total: Int
    let overlap: Int
  }

  private mutating func acceptPartial(
    _ part: AcceptedPart, head: ResponseHead, connection: Int, place: AnswerPlace, now: Double
  ) -> HeadDecision {
    let (range, total) = (part.range, part.total)
    if phase == .learning {
      let identity = Identity(head: head, length: total)
      if let objection = objection(to: identity, head: head, connection: connection) { return objection }
      if ignoresTags, identity.lastModified == nil, !settings.hasTrustedDigest {
        // Two such parts could be of two versions.
        avoidsRanges = true
        slots[connection].refuse(.broken("a part that nothing tells from another version's"))
        return .stop
      }
      learn(identity, head: head, honoursRanges: true, framing: .length, place: place)
      if scheduler == nil {
        scheduler = Scheduler(
          grid: ChunkGrid(length: total), present: ByteRangeSet(), policy: settings.policy)
      }
      scheduler?.adopt(range, connection: connection, now: now)
      phase = .ranges
    } else if let refusal = refusal(of: place, for: slots[connection]) {
      slots[connection].refuse(refusal)
      return .stop
    }
    noteAccepted(connection, now: now)
    rangeStrikes = 0
    let waited = slots[connection].accept(bodyLength: range.count, now: now)
    scheduler?.answered(connection: connection, after: waited, now: now)
    return .take(offset: range.lower, skip: part.overlap)
  }

  private mutating func acceptWhole(
    length: Int?, framing: Framing, head: ResponseHead, connection: Int, place: AnswerPlace, now: Double
  ) -> HeadDecision {
    let isUnframed = framing == .closeDelimited && !settings.acceptsUnframed && !place.isSecure
    // What is there already is worth more than an answer that cannot be trusted to its end.
    if isUnframed, resumed != nil || resource?.startedInRanges == true {
      slots[connection].refuse(.unframed)
      return .stop
    }
    if phase == .learning, let asked = slots[connection].asked, asked.lower == 0, length == asked.count,
      resumed?.grid.length != length
    {
      // Some caches keep a part and give it out as the whole. Asked without a range they have to think again.
      avoidsRanges = true
      slots[connection].refuse(.abandoned)
      return .stop
    }
    let identity = Identity(head: head, length: length)
    if phase == .learning {
      if let objection = objection(to: identity, head: head, connection: connection) { return objection }
    }
    if phase == .stream, !holdsBytes, isOther(identity, place) {
      // Not a byte is there yet that could mix with it. But what was made ready for another answer (the length, the
      // stored validator and place, the declared digests) must not stand for this one.
      startOver(TransferFailure(.changed, "another answer than the first one, which brought nothing"))
      return .stop
    }
    // Where the length is not told, an equal validator is all that speaks for bytes of one file; and if it lies,
    // the wrong length shows only when they are mixed already.
    if length == nil, resumed != nil || resource?.startedInRanges == true, !settings.hasTrustedDigest {
      return giveUpForLengthless()
    }
    if phase == .learning {
      learn(identity, head: head, honoursRanges: false, framing: framing, place: place)
      // The stream brings every byte, also those that are there: they are dropped where they are written.
      scheduler = nil
      phase = .stream
    }
    if objection(to: place) == .elsewhere || objection(to: place) == .strange, holdsBytes {
      // It brings every byte anew in any case.
      beginAnew("the link leads to another place now (\(place.source)), whose answer brings the whole file")
      return .stop
    }
    places.insert(place.source)
    noteAccepted(connection, now: now)
    _ = slots[connection].accept(bodyLength: length, now: now)
    streamPosition = 0
    streamIsUnframed = isUnframed
    return .take(offset: 0)
  }

  /// Whether an answer says anything else of the file than the one that was learned from.
  private func isOther(_ identity: Identity, _ place: AnswerPlace) -> Bool {
    guard let resource else { return false }
    return (ignoresTags ? identity.withoutTag : identity) != resource.identity
      || place.source != resource.place
  }

  /// Whether there is anything of this generation.
  var holdsBytes: Bool { hasBytes || resumed != nil }

  /// Begins anew with such answers, unless the user wants to keep what is there.
  private mutating func giveUpForLengthless() -> HeadDecision {
    let why =
      "the server sends no parts any more and tells no length, so nothing can be added to what is there"
    let failure = TransferFailure(.brokenProtocol, why)
    if settings.restartsOnChange { startOver(failure) } else { fail(failure) }
    return .stop
  }

  private mutating func noteAccepted(_ connection: Int, now: Double) {
    if renewing == connection, slots[connection].request?.asksOriginal == true {
      renewed(by: connection, now: now)
    }
  }

  private mutating func acceptEmpty(
    head: ResponseHead, connection: Int, place: AnswerPlace
  ) -> HeadDecision {
    if phase == .learning {
      learn(
        Identity(head: head, length: 0), head: head, honoursRanges: true, framing: .length, place: place)
      scheduler = Scheduler(grid: ChunkGrid(length: 0), present: ByteRangeSet(), policy: settings.policy)
      phase = .ranges
    }
    return .discard
  }

  private mutating func learn(
    _ identity: Identity, head: ResponseHead, honoursRanges: Bool, framing: Framing, place: AnswerPlace
  ) {
    resource = RemoteResource(
      identity: ignoresTags ? identity.withoutTag : identity, honoursRanges: honoursRanges, framing: framing,
      suggestedName: head.headers["Content-Disposition"].flatMap(ContentDisposition.fileName),
      isPage: head.isPage, place: place.source)
    places.insert(place.source)
  }
}
