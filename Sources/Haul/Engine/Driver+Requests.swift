// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulPlatform
internal import HaulTransport

extension Driver {
  // MARK: Requests of the machine

  func request(_ index: Int, _ asked: PartRequest, now: Double) {
    connections[index].hopDigests = ServerDigests()
    let route = asked.asksOriginal ? route.original : asked.comparesPlace ? otherRoute ?? route : route
    if !connections[index].start(asked, route: route, loop: engine.loop) {
      let failure = TransferFailure(.local, "libcurl could not start a request (memory or descriptors)")
      machine?.ended(connection: index, .failed(failure, isPassing: true), now: now, dice: .random(in: 0..<1))
    }
  }

  // MARK: What connections report

  func judge(_ head: ResponseHead, connection: Connection) -> HeadDecision {
    guard machine != nil, stage == .probing || stage == .fetching || stage == .preparing || stage == .opening
    else { return .stop }
    let wasKnown = machine?.resource != nil
    let decision =
      machine?.judge(
        head, connection: connection.index, place: connection.route.place, now: monotonicSeconds(),
        wallClock: wallClockSeconds()) ?? .stop
    if !connection.asked.comparesPlace { noteDigests(of: head, decision, connection: connection) }
    noteOddForm(of: head, decision)
    // The place that gave the first good answer is asked from now on: mirrors behind a redirector differ. And a
    // link that was renewed takes the place of the one that has run out.
    let isFirst = !wasKnown && machine?.resource != nil
    if case .take = decision, isFirst || connection.asked.asksOriginal { route = connection.route.pinned }
    return decision
  }

  /// Once a download: a server that writes its fields so does it in all its answers.
  private func noteOddForm(of head: ResponseHead, _ decision: HeadDecision) {
    guard case .take = decision, !hasOddForm, head.status == 206, let range = head.headers["Content-Range"],
      ContentRange.isOddForm(range)
    else { return }
    hasOddForm = true
    notice(.oddForm(field: "Content-Range", value: range))
  }

  func received(_ count: Int, connection: Int) -> (wanted: Int, goesOn: Bool) {
    engine.loop.movedBytes += count
    return machine?.received(count, connection: connection) ?? (0, false)
  }

  /// Sends the same request one redirect further.
  func follow(_ location: String, connection: Connection) {
    let now = monotonicSeconds()
    do throws(TransferFailure) {
      let next = try connection.route.following(location)
      let asked = connection.asked
      guard machine?.redirected(connection: connection.index, now: now) == true else {
        return ended(.stopped, connection: connection)
      }
      if connection.start(asked, route: next, loop: engine.loop) { return }
      throw TransferFailure(.local, "libcurl could not start a request (memory or descriptors)")
    } catch {
      machine?.ended(connection: connection.index, .failed(error, isPassing: false), now: now, dice: 0)
    }
  }

  func ended(_ outcome: TransferOutcome, connection: Connection) {
    let ending: RequestEnding
    switch outcome {
    case .finished: ending = .finished
    case .stopped: ending = .stopped
    case .failed(let failure):
      ending = .failed(
        TransferFailure(failure.transferKind, failure.message),
        isPassing: failure.isPassing)
    }
    machine?.ended(
      connection: connection.index, ending, now: monotonicSeconds(), dice: .random(in: 0..<1))
  }

  /// Ends every request without a further word, handing on what has come.
  func removeTransfers(keepingBytes: Bool) {
    for connection in connections {
      engine.loop.remove(connection.transfer)
      if keepingBytes { connection.submitPartial() } else { connection.dropPartial() }
    }
  }
}

extension TransportFailure {
  fileprivate var transferKind: TransferFailure.Kind {
    switch kind {
    case .resolve, .connect, .timeout, .interrupted, .tls, .proxy: .network
    case .notTLS: .notTLS
    case .caFile: .caFile
    case .certificate: .untrusted
    case .malformed, .overfull: .brokenProtocol
    case .local: .local
    }
  }
}
