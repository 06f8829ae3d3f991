// SPDX-License-Identifier: Apache-2.0

extension TransferMachine {
  /// Judges the head of a response; nothing of its body may be used before.
  /// - Parameter wallClock: seconds since 1970.
  package mutating func judge(
    _ head: ResponseHead, connection: Int, now: Double, wallClock: Int
  ) -> HeadDecision {
    let asked = slots[connection].asked
    let expectation = Expectation(
      asked: asked, known: resource?.identity, storedLength: resumed?.grid.length,
      acceptsWhole: phase == .learning || phase == .stream, now: wallClock)
    switch expectation.judge(head) {
    case .partial(let range, let total):
      return acceptPartial(range, total: total, head: head, connection: connection, now: now)
    case .whole(let length, let framing):
      return acceptWhole(length: length, framing: framing, head: head, connection: connection, now: now)
    case .empty:
      return acceptEmpty(head: head, connection: connection)
    case .redirect(let location):
      return .redirect(location: location)
    case .limited(let status, let retryAfter):
      let isExtra = slots.contains(where: \.isReceiving)
      slots[connection].refuse(.limited(status: status, retryAfter: retryAfter, isExtra: isExtra))
      return .discard
    case .refused(let status):
      // Some servers say "forbidden" when they mean "not so many". The last one that is told so believes it.
      slots[connection].refuse(.refused(status: status, isExtra: status == 403 && busyConnections > 1))
      return .discard
    case .changed(let change):
      slots[connection].refuse(.changed(change))
      return .stop
    case .broken(let reason):
      slots[connection].refuse(.broken(reason))
      return .stop
    case .boundless(let reason):
      slots[connection].refuse(.boundless(reason))
      return .stop
    }
  }

  /// A redirect was followed: the same request goes out again.
  package mutating func redirected(connection: Int, now: Double) {
    slots[connection].begin(asking: slots[connection].asked, now: now)
  }

  private mutating func acceptPartial(
    _ range: ByteRange, total: Int, head: ResponseHead, connection: Int, now: Double
  ) -> HeadDecision {
    if phase == .learning {
      let identity = Identity(head: head, length: total)
      if let change = resumed?.change(identity) {
        slots[connection].refuse(.changed(change))
        return .stop
      }
      learn(identity, head: head, honoursRanges: true, framing: .length)
      if scheduler == nil {
        scheduler = Scheduler(
          grid: ChunkGrid(length: total), present: ByteRangeSet(), policy: settings.policy)
      }
      scheduler?.adopt(range, connection: connection, now: now)
      phase = .ranges
    }
    let waited = slots[connection].accept(bodyLength: range.count, now: now)
    scheduler?.answered(connection: connection, after: waited, now: now)
    return .take(offset: range.lower)
  }

  private mutating func acceptWhole(
    length: Int?, framing: Framing, head: ResponseHead, connection: Int, now: Double
  ) -> HeadDecision {
    if framing == .closeDelimited, !settings.acceptsUnframed {
      slots[connection].refuse(.unframed)
      return .stop
    }
    let identity = Identity(head: head, length: length)
    if phase == .learning {
      if let change = resumed?.change(identity) {
        slots[connection].refuse(.changed(change))
        return .stop
      }
      learn(identity, head: head, honoursRanges: false, framing: framing)
      // The stream brings every byte, also those that are there: they are dropped where they are written.
      scheduler = nil
      phase = .stream
    }
    _ = slots[connection].accept(bodyLength: length, now: now)
    streamPosition = 0
    return .take(offset: 0)
  }

  private mutating func acceptEmpty(head: ResponseHead, connection: Int) -> HeadDecision {
    if phase == .learning {
      learn(Identity(head: head, length: 0), head: head, honoursRanges: true, framing: .length)
      scheduler = Scheduler(grid: ChunkGrid(length: 0), present: ByteRangeSet(), policy: settings.policy)
      phase = .ranges
    }
    return .discard
  }

  private mutating func learn(
    _ identity: Identity, head: ResponseHead, honoursRanges: Bool, framing: Framing
  ) {
    resource = RemoteResource(
      identity: identity, honoursRanges: honoursRanges, framing: framing,
      suggestedName: head.headers["Content-Disposition"].flatMap(ContentDisposition.fileName))
  }
}
