// SPDX-License-Identifier: Apache-2.0

/// Carrying out a plan.
extension Connection {
  typealias Finish = (RequestRecord.Outcome, Ending)

  func perform(_ plan: ResponsePlan, _ sequence: Int) -> Finish {
    if plan.delay > 0, socket.rest(nanoseconds: plan.delay * 1_000_000, noticing: .hangUp) == .gone {
      return (.aborted, .close)
    }
    state.withLock {
      $0.journal.requests[sequence].status = plan.raw == nil ? plan.status : nil
      $0.journal.requests[sequence].contentStart = plan.raw == nil ? plan.contentRange?.lowerBound : nil
    }
    if let raw = plan.raw {
      writer.queue(raw)
      return writer.flush() ? (.completed, .close) : (.aborted, .close)
    }
    writer.queue(plan.head)
    writer.isChunked = plan.framing == .chunked && !plan.segments.isEmpty
    if let finish = sendBody(plan, sequence) { return finish }
    if writer.isChunked { writer.queue(Array("0\r\n\r\n".utf8)) }
    guard writer.flush() else { return (.aborted, .close) }
    return (.completed, plan.keepsAlive ? .keepOpen : .close)
  }

  /// Sends the segments, stopping at the events. Nil when the body was sent to its end.
  private func sendBody(_ plan: ResponsePlan, _ sequence: Int) -> Finish? {
    var events = plan.events[...]
    var position = 0
    for segment in plan.segments {
      var done = 0
      while done < segment.count {
        while let event = events.first, event.position <= position {
          events.removeFirst()
          if let finish = act(event.action, sequence) { return finish }
        }
        var count = min(segment.count - done, BodyWriter.largestSlice)
        if let event = events.first { count = min(count, event.position - position) }
        guard let granted = waitForTurn(count) else { return (.aborted, .close) }
        let alive = writer.send(
          granted, fill: { segment.fill($0, from: done, plan.content) },
          progress: { sent in state.withLock { $0.journal.requests[sequence].bodyBytesSent += sent } })
        guard alive else { return (.aborted, .close) }
        done += granted
        position += granted
      }
    }
    for event in events where event.position <= position {
      if let finish = act(event.action, sequence) { return finish }
    }
    return nil
  }

  /// Waits for the rate caps; returns how many of `count` bytes may go now, or nil when the connection is
  /// gone.
  private func waitForTurn(_ count: Int) -> Int? {
    let (granted, delay) = pacer.reserve(count, now: Clock.monotonic())
    guard delay > 0 else { return granted }
    // The head must not wait for the body's turn.
    guard writer.flush() else { return nil }
    return socket.rest(nanoseconds: delay, noticing: []) == .gone ? nil : granted
  }

  private func act(_ action: ResponsePlan.Action, _ sequence: Int) -> Finish? {
    guard writer.flush() else { return (.aborted, .close) }
    switch action {
    case .close: return (.cut, .close)
    case .reset: return (.cut, .reset)
    case .pace(let rate):
      pacer.slow(to: rate)
      return nil
    case .stall:
      _ = socket.rest(nanoseconds: nil, noticing: .hangUp)
      return (.aborted, .close)
    case .gate(let name):
      return hold(at: name, sequence) ? nil : (.aborted, .close)
    }
  }

  /// Waits for a gate; false when the client went away or the origin stopped.
  private func hold(at name: String, _ sequence: Int) -> Bool {
    state.withLock { $0.journal.requests[sequence].heldAt = name }
    defer { state.withLock { $0.journal.requests[sequence].heldAt = nil } }
    // The gate wakes this at once; a client that goes away is noticed within a slice.
    while !state.wait(nanoseconds: 50_000_000, until: { $0.stopping || $0.openGates.contains(name) }) {
      if socket.rest(nanoseconds: 1, noticing: .hangUp) == .gone { return false }
    }
    return state.withLock { !$0.stopping }
  }
}

extension ResponsePlan.Segment {
  /// Fills `buffer` with the segment's bytes from `start`.
  fileprivate func fill(_ buffer: UnsafeMutableRawBufferPointer, from start: Int, _ content: OriginContent) {
    switch self {
    case .content(let range): content.fill(buffer, at: range.lowerBound + start)
    case .bytes(let bytes): OriginContent.bytes(bytes).fill(buffer, at: start)
    case .inverted(let range):
      content.fill(buffer, at: range.lowerBound + start)
      for index in buffer.indices { buffer[index] = ~buffer[index] }
    }
  }
}
