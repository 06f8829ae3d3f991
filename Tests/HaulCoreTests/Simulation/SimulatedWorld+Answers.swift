// SPDX-License-Identifier: Apache-2.0

import HaulCore
import TestSupport

/// The server's side.
extension SimulatedWorld {
  /// Whether something goes wrong now. A server that holds still has only so many troubles.
  private mutating func trouble(_ perMille: Int) -> Bool {
    guard troubles < server.mostTroubles, chance(perMille) else { return false }
    troubles += 1
    return true
  }

  /// Which version answers: the newest, or on a mirror that was not told an earlier one.
  mutating func generation() -> Int {
    let newest = server.generation(afterRequests: requestCount)
    return newest > 0 && !server.hasTwins && chance(server.chances.stale) ? newest - 1 : newest
  }

  mutating func step(_ connection: Int) {
    guard let exchange = exchanges[connection] else { return }
    switch exchange.stage {
    case .stuck: exchanges[connection]?.nextAt = .infinity
    case .waitingForHead: answer(connection)
    case .redirected: follow(connection)
    case .sending: send(connection)
    }
  }

  private mutating func answer(_ connection: Int) {
    guard var exchange = exchanges[connection] else { return }
    let chances = server.chances
    if now >= server.diesAt || trouble(chances.cutBeforeHead) { return cut(connection) }
    if trouble(chances.stall) {
      exchanges[connection]?.nextAt = .infinity
      return
    }
    if trouble(chances.noAnswer) { return end(connection, .stopped) }
    let others = exchanges.filter { $0.key != connection && $0.value.stage == .sending }.count
    let isRefused = others >= server.mostConnections || (others > 0 && chance(chances.refusal))
    var head: ResponseHead
    if isRefused {
      let wait = server.retryAfter.map { [("Retry-After", "\($0)")] } ?? []
      head = response(server.refusalStatus, wait)
    } else if now > exchange.linkedAt + server.linkLife {
      head = response(403)
    } else if exchange.hops < 3, chance(chances.redirect) {
      head = response(307, [("Location", "/")])
    } else {
      var answer = content(&exchange)
      if trouble(chances.odd), let oddity = server.oddities.randomElement(using: &dice) {
        answer.distort(as: oddity, exchange, server.generations[exchange.generation], &dice)
      }
      head = response(answer.status, answer.fields)
    }
    let place = AnswerPlace(
      source: "http://x/\(exchange.link % server.places)", isRenewable: server.linkLife < .infinity)
    let decision = machine.judge(head, connection: connection, place: place, now: now, wallClock: 1_000_000)
    trace(connection, "\(head.status) \(head.headers.fields.map { "\($0.name): \($0.value)" }), \(decision)")
    switch decision {
    case .take(let offset, let skip):
      exchange.position += skip
      if head.status != 200 && head.status != 206 { fault("\(head.status) is taken") }
      if offset != exchange.position {
        fault("bytes of \(exchange.position) are taken for those of \(offset)")
      }
      exchange.stage = .sending
      exchange.isTaken = true
      schedule(&exchange)
      exchanges[connection] = exchange
    case .discard:
      if trouble(chances.errorWithoutEnd) {
        exchange.stage = .stuck
        exchange.nextAt = .infinity
        exchanges[connection] = exchange
      } else {
        end(connection, .finished)
      }
    case .stop: end(connection, .stopped)
    case .redirect:
      // Its body has to end before it is followed: meanwhile it may be given up.
      exchange.hops += 1
      exchange.stage = .redirected
      exchange.nextAt = now + server.roundTrip / 2
      exchanges[connection] = exchange
    }
  }

  private mutating func follow(_ connection: Int) {
    guard machine.redirected(connection: connection, now: now) else { return end(connection, .stopped) }
    exchanges[connection]?.stage = .waitingForHead
    exchanges[connection]?.nextAt = now + server.roundTrip / 2
  }

  /// The head of an answer with content, as good as this server can, and what its body will be.
  private mutating func content(_ exchange: inout Exchange) -> SimulatedAnswer {
    let generation = server.generations[exchange.generation]
    let length = generation.length
    let own = server.fields(of: generation, &dice)
    if let condition = exchange.request.condition, server.fails(condition, own) {
      return SimulatedAnswer(412, own, [])
    }
    let ignoresRange =
      exchange.request.condition != nil && server.conditions == .alwaysWhole
      || requestCount > server.rangesEndAfter
    var answer: SimulatedAnswer
    if let range = exchange.range, server.honoursRanges, !ignoresRange, !trouble(server.chances.whole) {
      guard range.lower < length else {
        return SimulatedAnswer(416, own, [("Content-Range", "bytes */\(length)")])
      }
      answer = part(range, of: length, own, &exchange)
    } else {
      exchange.position = 0
      exchange.end = length
      let framing = server.tellsLength ? ("Content-Length", "\(length)") : ("Transfer-Encoding", "chunked")
      answer = SimulatedAnswer(200, own, [framing])
    }
    if exchange.position < exchange.end, trouble(server.chances.cutInBody) {
      exchange.cutAt = Int.random(in: exchange.position..<exchange.end, using: &dice)
    } else if exchange.position < exchange.end, trouble(server.chances.stall) {
      exchange.stallsAt = Int.random(in: exchange.position..<exchange.end, using: &dice)
    } else if answer.status == 206, trouble(server.chances.emptyBody) {
      exchange.end = exchange.position
    }
    return answer
  }

  private mutating func part(
    _ range: ByteRange, of length: Int, _ own: [(String, String)], _ exchange: inout Exchange
  ) -> SimulatedAnswer {
    let chances = server.chances
    exchange.position = range.lower
    exchange.end = min(range.upper, length)
    if trouble(chances.shifted) { exchange.position += exchange.end - range.lower > 1 ? 1 : 0 }
    if trouble(chances.early) {
      exchange.position -= Int.random(in: 0...min(exchange.position, 1 << 20), using: &dice)
    }
    let isLong = trouble(chances.long)
    if isLong { exchange.end = Int.random(in: exchange.end...length, using: &dice) }
    if chance(chances.short) {
      // Short, but not by so much that a run takes for ever.
      let least = exchange.position + (exchange.end - exchange.position + 1) / 2
      exchange.end = Int.random(in: least...exchange.end, using: &dice)
    }
    let announced = ByteRange(exchange.position, max(exchange.end, exchange.position + 1))
    exchange.end = announced.upper
    let total = server.hidesTotal ? "*" : "\(length)"
    let field = ("Content-Range", "bytes \(announced.httpSpec)/\(total)")
    guard Bool.random(using: &dice) else {
      return SimulatedAnswer(206, own, [field, ("Content-Length", "\(announced.count)")])
    }
    // A chunked body may go on behind what its head has announced.
    if isLong { exchange.end = Int.random(in: exchange.end...length, using: &dice) }
    return SimulatedAnswer(206, own, [field, ("Transfer-Encoding", "chunked")])
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
      if wanted > count || wanted < 0 { return fault("\(wanted) of \(count) bytes are wanted") }
      let range = ByteRange(exchange.position, exchange.position + wanted)
      if exchange.request.comparesPlace {
        compare(range, of: exchange.generation)
      } else {
        take(range, of: exchange.generation)
      }
      if wanted < count && goesOn { fault("bytes are unwanted, but the rest is wanted") }
      exchange.position += count
      if !goesOn { return end(connection, .stopped) }
    }
    // What is skipped may reach beyond the place of a cut.
    if exchange.position >= exchange.cutAt { return cut(connection) }
    if exchange.position >= exchange.stallsAt {
      exchange.stage = .stuck
      exchange.nextAt = .infinity
    } else if exchange.position >= exchange.end {
      return end(connection, .finished)
    } else {
      schedule(&exchange)
    }
    exchanges[connection] = exchange
  }
}
