// SPDX-License-Identifier: Apache-2.0

import HaulCore
import TestSupport

/// A transfer machine in a world of its own: virtual time, a server that misbehaves by its seed, and a model
/// of every byte that shares nothing with the scheduler.
struct SimulatedWorld {
  /// One request under way, as the server sees it.
  private struct Exchange {
    enum Stage { case waitingForHead, sending, stuck }
    let request: PartRequest
    var range: ByteRange? { request.range }
    /// Which version of the file the body is of.
    var generation = 0
    /// When its link was made.
    var linkedAt: Double
    var stage = Stage.waitingForHead
    var nextAt: Double
    /// Bytes a second.
    let rate: Double
    /// The next byte of the file that the server sends, and the end of what it sends.
    var position = 0
    var end = 0
    /// Where it breaks off.
    var cutAt = Int.max
    var stallsAt = Int.max
    /// How the body ends once everything was sent.
    var ending = RequestEnding.finished
    var isTaken = false
    var hops = 0
  }

  enum Outcome: Equatable { case complete, failed(TransferFailure) }

  private(set) var machine: TransferMachine
  private(set) var outcome: Outcome?
  /// What went against the rules.
  private(set) var violations: [String] = []
  private(set) var events = 0
  private(set) var now = 0.0
  private(set) var requestCount = 0
  private(set) var startOvers = 0
  /// The versions that the accepted bytes are of; more than one is a mix.
  private(set) var generations: Set<Int>
  private(set) var renewals = 0
  private(set) var fallbacks = 0
  private var linkedAt = 0.0
  /// Every byte that was accepted.
  private(set) var accepted: ByteRangeSet
  private var exchanges: [Int: Exchange] = [:]
  private var server: SimulatedServer
  private var dice: SeededGenerator
  private let present: ByteRangeSet
  private let chunk = 1 << 20
  /// A request has begun or ended since the last account.
  private var hasMoved = true
  static let mostEvents = 10_000

  init(seed: UInt64) {
    dice = SeededGenerator(seed: seed)
    server = SimulatedServer(&dice)
    var settings = TransferSettings()
    settings.acceptsUnframed = true
    settings.retry = RetryPolicy(limit: Int.random(in: 0...8, using: &dice))
    if Bool.random(using: &dice) {
      settings.connections = .fixed(Int.random(in: 1...20, using: &dice))
    }
    settings.policy.firstRequest = 1 << Int.random(in: 10...23, using: &dice)
    var present = ByteRangeSet()
    if Int.random(in: 0..<4, using: &dice) == 0, server.length > 0 {
      for _ in 0..<Int.random(in: 0...6, using: &dice) {
        let lower = Int.random(in: 0..<server.length, using: &dice) / chunk * chunk
        present.insert(
          ByteRange(lower, min(server.length, lower + chunk * Int.random(in: 1...9, using: &dice))))
      }
    }
    self.present = present
    accepted = present
    generations = present.isEmpty ? [] : [0]
    var resumed: ResumedFile?
    if !present.isEmpty {
      let server = server
      resumed = ResumedFile(grid: ChunkGrid(length: server.length), present: present) {
        server.change(from: $0)
      }
    }
    machine = TransferMachine(settings: settings, resumed: resumed)
  }

  /// Of the version that was fetched.
  var length: Int { server.length(of: generations.first ?? server.generation(at: now)) }
  var presentBytes: Int { present.count }
  /// A stream begins again at its first byte, so its bytes may come more than once.
  var isStream: Bool { machine.scheduler == nil }

  mutating func run() {
    advance()
    while outcome == nil, violations.isEmpty {
      events += 1
      if events > Self.mostEvents { return fault("no end after \(events) events") }
      // The next event of any request, or the owner's tick, whichever comes first.
      let tick = now + 0.25
      if let next = exchanges.min(by: { ($0.value.nextAt, $0.key) < ($1.value.nextAt, $1.key) }),
        next.value.nextAt <= tick
      {
        now = max(now, next.value.nextAt)
        step(next.key)
      } else if exchanges.allSatisfy({ $0.value.nextAt == .infinity }) {
        // Nothing can happen but waits: they may be long.
        now += 1
      } else {
        now = tick
      }
      advance()
    }
  }

  private mutating func fault(_ what: String) { violations.append("at \(now) s: \(what)") }

  private func chance(_ perMille: Int, _ dice: inout SeededGenerator) -> Bool {
    perMille > 0 && Int.random(in: 0..<1000, using: &dice) < perMille
  }

  // MARK: The owner

  private mutating func advance() {
    for action in machine.advance(now: now) {
      switch action {
      case .request(let connection, let asked): request(connection, asked)
      case .cancel(let connection):
        if exchanges[connection] == nil { fault("connection \(connection) is idle and was cancelled") }
        end(connection, .stopped)
      case .startOver:
        startOvers += 1
        exchanges = [:]
        accepted = ByteRangeSet()
        generations = []
        machine.restarted(now: now)
      case .complete:
        outcome = .complete
        if generations.count > 1 { fault("versions \(generations.sorted()) are mixed") }
        if exchanges.contains(where: \.value.isTaken) { fault("complete while bytes are still to come") }
      case .fail(let failure): outcome = .failed(failure)
      }
    }
    // What bytes alone change is counted where they are taken; the rest only now and then.
    if hasMoved || events % 16 == 0 { checkAccount() }
    hasMoved = false
  }

  /// Every byte is there, missing, or due in one lease.
  private mutating func checkAccount() {
    guard let scheduler = machine.scheduler, outcome == nil else { return }
    var seen = accepted
    var count = accepted.count
    for range in scheduler.missing.ranges + scheduler.leases.values.map(\.remaining) {
      count += range.count
      seen.insert(range)
    }
    if seen.count != count { fault("a byte is in two places") }
    if count != scheduler.grid.length { fault("\(scheduler.grid.length - count) bytes are nowhere") }
  }

  private mutating func request(_ connection: Int, _ asked: PartRequest) {
    let range = asked.range
    requestCount += 1
    if asked.asksOriginal {
      renewals += 1
      linkedAt = now
    }
    if range == nil, machine.resource?.startedInRanges == true { fallbacks += 1 }
    hasMoved = true
    if exchanges[connection] != nil { return fault("connection \(connection) has a request already") }
    if let range, range.isEmpty { return fault("an empty range was asked for") }
    // The far half may have been stolen in the same breath.
    if let range, !asked.isFresh, let due = machine.scheduler?.leases[connection],
      due.range.lower != range.lower || due.requestEnd != range.upper
    {
      return fault("\(range) was asked for, \(due.range) is due")
    }
    exchanges[connection] = Exchange(
      request: asked, linkedAt: linkedAt,
      nextAt: now + server.roundTrip * Double.random(in: 1...3, using: &dice),
      rate: pow10(Double.random(in: 5.3...8, using: &dice)))
  }

  private func pow10(_ exponent: Double) -> Double {
    var result = 1.0
    for _ in 0..<Int(exponent) { result *= 10 }
    return result * (1 + 9 * (exponent - exponent.rounded(.down)))
  }

  private mutating func end(_ connection: Int, _ ending: RequestEnding) {
    exchanges[connection] = nil
    hasMoved = true
    machine.ended(connection: connection, ending, now: now, dice: Double.random(in: 0..<1, using: &dice))
  }

  private mutating func cut(_ connection: Int) {
    end(connection, .failed(TransferFailure(.network, "cut"), isPassing: true))
  }

  // MARK: The server

  private mutating func step(_ connection: Int) {
    guard let exchange = exchanges[connection] else { return }
    switch exchange.stage {
    case .stuck: exchanges[connection]?.nextAt = .infinity
    case .waitingForHead: answer(connection)
    case .sending: send(connection)
    }
  }

  private mutating func answer(_ connection: Int) {
    guard var exchange = exchanges[connection] else { return }
    let chances = server.chances
    if now >= server.diesAt || chance(chances.cutBeforeHead, &dice) { return cut(connection) }
    if chance(chances.stall, &dice) {
      exchanges[connection]?.nextAt = .infinity
      return
    }
    if chance(chances.noAnswer, &dice) { return end(connection, .stopped) }
    let others = exchanges.filter { $0.key != connection && $0.value.stage == .sending }.count
    let isRefused = others >= server.mostConnections || (others > 0 && chance(chances.refusal, &dice))
    var head: ResponseHead
    if isRefused {
      let wait = server.retryAfter.map { [("Retry-After", "\($0)")] } ?? []
      head = response(server.refusalStatus, wait)
    } else if now > exchange.linkedAt + server.linkLife {
      head = response(403)
    } else if exchange.hops < 3, chance(chances.redirect, &dice) {
      head = response(307, [("Location", "/")])
    } else {
      head = content(&exchange)
    }
    let place = AnswerPlace(source: "http://x/", isRenewable: server.linkLife < .infinity)
    switch machine.judge(head, connection: connection, place: place, now: now, wallClock: 1000) {
    case .take(let offset, let skip):
      exchange.position += skip
      // What breaks off in the part that is skipped brings nothing.
      exchange.cutAt = max(exchange.cutAt, exchange.position)
      exchange.stallsAt = max(exchange.stallsAt, exchange.position)
      exchange.end = max(exchange.end, exchange.position)
      if offset != exchange.position {
        fault("bytes of \(exchange.position) are taken for those of \(offset)")
      }
      if head.status != 200 && head.status != 206 { fault("\(head.status) is taken") }
      exchange.isTaken = true
      exchange.stage = .sending
      schedule(&exchange)
      exchanges[connection] = exchange
    case .discard:
      if chance(chances.errorWithoutEnd, &dice) {
        exchange.stage = .stuck
        exchange.nextAt = .infinity
        exchanges[connection] = exchange
      } else {
        end(connection, .finished)
      }
    case .stop: end(connection, .stopped)
    case .redirect:
      exchange.hops += 1
      exchange.nextAt = now + server.roundTrip
      exchanges[connection] = exchange
      machine.redirected(connection: connection, now: now)
    }
  }

  /// The head of an answer with content, as good as this server can, and what its body will be.
  private mutating func content(_ exchange: inout Exchange) -> ResponseHead {
    let chances = server.chances
    let isStale = chance(chances.stale, &dice)
    exchange.generation = isStale ? SimulatedServer.staleGeneration : server.generation(at: now)
    let length = server.length(of: exchange.generation)
    var fields = server.fields(of: exchange.generation, &dice)
    if let failed = failedCondition(exchange, fields) { return failed }
    let status: Int
    let ignoresRange = exchange.request.condition != nil && server.conditions == .alwaysWhole
    if let range = exchange.range, server.honoursRanges, now < server.rangesEndAt, !ignoresRange,
      !chance(chances.whole, &dice)
    {
      guard range.lower < length else { return response(416, [("Content-Range", "bytes */\(length)")]) }
      status = 206
      exchange.position = range.lower
      exchange.end = min(range.upper, length)
      if chance(chances.shifted, &dice) { exchange.position += exchange.end - range.lower > 1 ? 1 : 0 }
      if chance(chances.early, &dice) {
        exchange.position -= Int.random(in: 0...min(exchange.position, 1 << 20), using: &dice)
      }
      if chance(chances.long, &dice) { exchange.end = Int.random(in: exchange.end...length, using: &dice) }
      if chance(chances.short, &dice) {
        // Short, but not by so much that a run takes for ever.
        let least = exchange.position + (exchange.end - exchange.position + 1) / 2
        exchange.end = Int.random(in: least...exchange.end, using: &dice)
      }
      let announced = ByteRange(exchange.position, max(exchange.end, exchange.position + 1))
      exchange.end = announced.upper
      fields += [("Content-Range", "bytes \(announced.httpSpec)/\(length)")]
      if Bool.random(using: &dice) {
        fields += [("Content-Length", "\(announced.count)")]
      } else {
        fields += [("Transfer-Encoding", "chunked")]
      }
    } else {
      status = 200
      exchange.position = 0
      exchange.end = length
      fields += [server.tellsLength ? ("Content-Length", "\(length)") : ("Transfer-Encoding", "chunked")]
    }
    if chance(chances.cutInBody, &dice), exchange.position < exchange.end {
      exchange.cutAt = Int.random(in: exchange.position..<exchange.end, using: &dice)
    } else if chance(chances.stall, &dice), exchange.position < exchange.end {
      exchange.stallsAt = Int.random(in: exchange.position..<exchange.end, using: &dice)
    } else if status == 206, chance(chances.emptyBody, &dice) {
      exchange.end = exchange.position
    }
    return response(status, fields)
  }

  /// A 412 where the server holds the request's condition against it.
  private func failedCondition(_ exchange: Exchange, _ fields: [(String, String)]) -> ResponseHead? {
    guard let condition = exchange.request.condition else { return nil }
    switch (server.conditions, condition) {
    case (.alwaysFailed, _): return response(412)
    case (.honoured, .strongETag(let tag)):
      return fields.contains { $0 == ("ETag", tag) } ? nil : response(412)
    case (.honoured, .lastModified(let date, _)):
      return fields.contains { $0 == ("Last-Modified", date) } ? nil : response(412)
    case (.ignored, _), (.alwaysWhole, _): return nil
    }
  }

  private func schedule(_ exchange: inout Exchange) {
    let piece = min(pieceLength(exchange), exchange.end - exchange.position)
    exchange.nextAt = now + Double(piece) / exchange.rate
  }

  /// What arrives at once: about half a second's worth, so that long files stay few events.
  private func pieceLength(_ exchange: Exchange) -> Int { max(1 << 18, Int(exchange.rate / 2)) }

  private mutating func send(_ connection: Int) {
    guard var exchange = exchanges[connection] else { return }
    if now >= server.diesAt { return cut(connection) }
    let stop = min(exchange.end, exchange.cutAt, exchange.stallsAt)
    let count = min(pieceLength(exchange), stop - exchange.position)
    if count > 0 {
      let (wanted, goesOn) = machine.received(count, connection: connection)
      take(ByteRange(exchange.position, exchange.position + max(0, wanted)), of: exchange.generation)
      if wanted > count || wanted < 0 { fault("\(wanted) of \(count) bytes are wanted") }
      if wanted < count && goesOn { fault("bytes are unwanted, but the rest is wanted") }
      exchange.position += count
      if !goesOn { return end(connection, .stopped) }
    }
    if exchange.position == exchange.cutAt { return cut(connection) }
    if exchange.position == exchange.stallsAt {
      exchange.stage = .stuck
      exchange.nextAt = .infinity
    } else if exchange.position >= exchange.end {
      return end(connection, .finished)
    } else {
      schedule(&exchange)
    }
    exchanges[connection] = exchange
  }

  private mutating func take(_ range: ByteRange, of generation: Int) {
    guard !range.isEmpty else { return }
    generations.insert(generation)
    if !isStream, !accepted.intersection(range).isEmpty { fault("bytes of \(range) are accepted twice") }
    if range.upper > server.length(of: generation) { fault("bytes behind the end are accepted") }
    accepted.insert(range)
  }
}
