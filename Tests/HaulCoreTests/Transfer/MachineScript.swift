// SPDX-License-Identifier: Apache-2.0

import HaulCore

/// Plays the owner of a machine: carries out its actions, step by step as a test says.
struct MachineScript {
  var machine: TransferMachine
  var now = 0.0
  var dice = 0.5
  /// Requests that are under way, by connection; the inner nil is one without a Range field.
  private(set) var requests: [Int: ByteRange?] = [:]
  /// The same in full, those that have ended included.
  private(set) var sent: [Int: PartRequest] = [:]
  /// Every request there was.
  private(set) var asked: [ByteRange?] = []
  private(set) var completions = 0
  private(set) var failure: TransferFailure?
  private(set) var startOvers: [String] = []
  private(set) var cancels = 0
  /// What is compared where another place has answered, and what comes of it.
  var compared: (ranges: [ByteRange], isEqual: Bool) = ([], true)
  private(set) var comparisons = 0

  init(_ settings: TransferSettings = TransferSettings(), resumed: ResumedFile? = nil) {
    machine = TransferMachine(settings: settings, resumed: resumed)
    advance()
  }

  /// Carries out what is due, `seconds` later.
  mutating func advance(_ seconds: Double = 0) {
    now += seconds
    var isAnswered = false
    for action in machine.advance(now: now) {
      switch action {
      case .request(let connection, let request):
        requests[connection] = request.range
        sent[connection] = request
        asked.append(request.range)
      case .cancel(let connection):
        cancels += 1
        end(connection, .stopped, advances: false)
      case .startOver(let failure):
        startOvers.append(failure.message)
        requests = [:]
        machine.restarted(now: now)
        return advance()
      case .compare:
        isAnswered = true
        machine.compare(with: compared.ranges, mayCome: false, now: now, dice: dice)
      case .judgeComparison:
        isAnswered = true
        comparisons += 1
        machine.compared(isEqual: compared.isEqual, now: now, dice: dice)
      case .complete: completions += 1
      case .fail(let failure):
        self.failure = failure
        requests = [:]
      }
    }
    // What was answered may lead to further actions at once.
    if isAnswered { advance() }
  }

  /// Lets the clock run in ticks until `isDone`, or for `seconds`.
  mutating func run(_ seconds: Double, until isDone: (MachineScript) -> Bool = { _ in false }) {
    let end = now + seconds
    while now < end, !isDone(self) { advance(0.1) }
  }

  mutating func head(
    _ connection: Int, _ head: ResponseHead, place: AnswerPlace = AnswerPlace()
  ) -> HeadDecision {
    machine.judge(head, connection: connection, place: place, now: now, wallClock: 1000)
  }

  /// Goes where a redirect leads, or ends the request where nobody waits for it any more.
  mutating func follow(_ connection: Int) {
    if !machine.redirected(connection: connection, now: now) { end(connection, .stopped) }
  }

  /// Bytes of a body, as many as are wanted.
  mutating func bytes(_ connection: Int, _ count: Int) -> Bool {
    machine.received(count, connection: connection).goesOn
  }

  mutating func end(_ connection: Int, _ ending: RequestEnding = .finished, advances: Bool = true) {
    requests[connection] = nil
    machine.ended(connection: connection, ending, now: now, dice: dice)
    if advances { advance() }
  }

  mutating func cut(_ connection: Int, advances: Bool = true) {
    end(connection, .failed(TransferFailure(.network, "cut"), isPassing: true), advances: advances)
  }

  /// Answers a connection with a head that is not taken, and ends its request.
  mutating func refuse(
    _ connection: Int, _ head: ResponseHead, place: AnswerPlace = AnswerPlace(), advances: Bool = true
  ) {
    _ = self.head(connection, head, place: place)
    end(connection, .stopped, advances: advances)
  }

  /// Answers a connection's request with exactly what it asked for, up to its body.
  mutating func accept(
    _ connection: Int, of total: Int, _ more: [(String, String)] = [("ETag", "\"a\"")]
  ) {
    guard case .some(.some(let range)) = requests[connection] else { return }
    _ = head(connection, part(ByteRange(range.lower, min(range.upper, total)), of: total, more))
  }

  /// Answers a connection's request in full.
  mutating func serve(_ connection: Int, of total: Int, advances: Bool = true) {
    guard case .some(.some(let range)) = requests[connection] else { return }
    accept(connection, of: total)
    let goesOn = bytes(connection, min(range.upper, total) - range.lower)
    end(connection, goesOn ? .finished : .stopped, advances: advances)
  }

  /// Answers everything that is asked until there is no more.
  mutating func serveAll(of total: Int) {
    for _ in 0..<10_000 {
      guard let connection = requests.keys.min() else { break }
      serve(connection, of: total)
    }
    advance()
  }
}
