// SPDX-License-Identifier: Apache-2.0

/// One connection, owned by one thread: reads a head, asks the values for the answer, sends it, and so on.
final class Connection {
  /// How a connection goes on after a response.
  enum Ending { case keepOpen, close, reset }

  let socket: Socket
  let admission: OriginState.Admission
  let state: Monitor<OriginState>
  var input: HeadReader
  var pacer: Pacer
  let writer: BodyWriter

  init(socket: Socket, admission: OriginState.Admission, state: Monitor<OriginState>) {
    self.socket = socket
    self.admission = admission
    self.state = state
    input = HeadReader(socket: socket)
    pacer = Pacer(state: state)
    writer = BodyWriter(socket: socket)
  }

  func run() {
    var served = 0
    var ending = Ending.keepOpen
    while ending == .keepOpen {
      let (idleTimeout, limit) = state.withLock {
        ($0.configuration.idleTimeout, $0.configuration.requestsPerConnection)
      }
      switch input.next(idleTimeout: idleTimeout) {
      case .closed: ending = .close
      case .tooLarge: ending = answer(nil, failure: 431, isLast: true)
      case .head(let bytes):
        served += 1
        ending = read(bytes, isLast: limit.map { served >= $0 } ?? false)
      }
    }
    state.withLock { $0.leave(admission) }
    if ending == .reset { socket.reset() } else { socket.finish() }
  }

  private func read(_ bytes: [UInt8], isLast: Bool) -> Ending {
    do throws(RequestHead.Refusal) {
      let request = try RequestHead.parse(bytes)
      return answer(request, failure: nil, isLast: isLast)
    } catch {
      return answer(nil, failure: error.status, isLast: true)
    }
  }

  /// `failure`: the status for a head that could not be read (then `request` is nil).
  private func answer(_ request: RequestHead?, failure: Int?, isLast: Bool) -> Ending {
    let assignment = state.withLock {
      $0.begin(request, connection: admission.connection, now: Clock.monotonic())
    }
    let refusal = admission.refusal ?? assignment.refusal
    var plan: ResponsePlan
    switch (refusal, request) {
    case (.reset, _):
      end(assignment.sequence, .cut)
      return .reset
    case (.status(let status, let retryAfter), _):
      plan = ResponsePlan(status: status, retryAfter: retryAfter, keepsAlive: request?.keepsAlive ?? false)
        .dated(Clock.wall())
    case (nil, let request?):
      plan = ResponsePlanner.plan(
        request, for: assignment.resource, faults: assignment.faults, now: Clock.wall())
    case (nil, nil):
      plan = ResponsePlan(status: failure ?? 400, keepsAlive: false).dated(Clock.wall())
    }
    if isLast || admission.refusal != nil { plan.keepsAlive = false }
    pacer.limit(to: assignment.bytesPerSecond)
    let (outcome, ending) = perform(plan, assignment.sequence)
    end(assignment.sequence, outcome)
    return ending
  }

  private func end(_ sequence: Int, _ outcome: RequestRecord.Outcome) {
    state.withLock { $0.journal.end(sequence, outcome, now: Clock.monotonic()) }
  }
}
