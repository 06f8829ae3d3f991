// SPDX-License-Identifier: Apache-2.0

package import HaulCore
internal import TestSupport

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// One download of a file over a path, in virtual time: the production machine against a model of the network.
package struct PathRun {
  private struct Exchange {
    var range: ByteRange
    var headAt: Double
    var position: Int
    var isAnswered = false
    /// Parts of a byte, and bytes that have not made up a read yet.
    var credit = 0.0
    var sent = 0
  }

  package let shape: PathShape
  package private(set) var machine: TransferMachine
  /// Seconds from the first request to the last byte; nil where it failed or took hours.
  package private(set) var seconds: Double?
  package private(set) var failure: TransferFailure?
  /// The most connections that had a request under way at once.
  package private(set) var mostBusy = 0
  /// Bytes that crossed the bottleneck.
  package private(set) var sentBytes = 0
  private var now = 0.0
  private var flows: [Int: TCPFlow] = [:]
  private var exchanges: [Int: Exchange] = [:]
  private var opened = 0
  private var dice: SeededGenerator
  private let tick: Double

  package init(_ shape: PathShape, connections: ConnectionBudget.Choice, seed: UInt64) {
    self.shape = shape
    dice = SeededGenerator(seed: seed)
    tick = min(0.02, max(0.002, shape.roundTrip / 8))
    var settings = TransferSettings()
    settings.connections = connections
    machine = TransferMachine(settings: settings)
  }

  /// - Parameter trace: is told five times a second what goes on.
  package mutating func run(trace: ((String) -> Void)? = nil) {
    var seen = (at: 0.0, bytes: 0)
    while seconds == nil, failure == nil, now < 4 * 3600 {
      act()
      answer()
      send()
      now += tick
      guard let trace, now - seen.at >= 0.2 else { continue }
      let receiving = exchanges.values.count { $0.isAnswered }
      let rate = Int(Double(sentBytes - seen.bytes) / (now - seen.at) / 1000)
      trace(
        "\(Int(now * 1000)) ms: \(machine.allowedConnections) allowed, \(exchanges.count) busy, "
          + "\(receiving) receiving, \(rate) kB/s, \(sentBytes / 1_000_000) MB")
      seen = (now, sentBytes)
    }
  }

  private mutating func act() {
    for action in machine.advance(now: now) {
      switch action {
      case .request(let connection, let request): begin(connection, request)
      case .cancel(let connection): end(connection, .stopped, closes: true)
      case .complete: seconds = now
      case .fail(let why): failure = why
      case .startOver(let why): failure = why
      // There is one place, and one file at it.
      case .compare, .judgeComparison: failure = TransferFailure(.local, "a comparison was asked for")
      }
    }
    mostBusy = max(mostBusy, exchanges.count)
  }

  private mutating func begin(_ connection: Int, _ request: PartRequest) {
    let range = (request.range ?? ByteRange(0, shape.length))
    var wait = shape.roundTrip
    if flows[connection] == nil {
      opened += 1
      flows[connection] = TCPFlow(number: opened, now: now)
      wait *= 2
    }
    flows[connection]?.begin(roundTrip: shape.roundTrip, now: now)
    exchanges[connection] = Exchange(
      range: ByteRange(range.lower, min(range.upper, shape.length)), headAt: now + wait,
      position: range.lower)
  }

  private mutating func end(_ connection: Int, _ ending: RequestEnding, closes: Bool) {
    exchanges[connection] = nil
    if closes { flows[connection] = nil }
    machine.ended(connection: connection, ending, now: now, dice: .random(in: 0..<1, using: &dice))
  }

  // MARK: The server

  private mutating func answer() {
    for connection in exchanges.keys.sorted() {
      guard let exchange = exchanges[connection], !exchange.isAnswered, exchange.headAt <= now else {
        continue
      }
      let served = exchanges.values.count { $0.isAnswered }
      let isRefused = served >= shape.connectionLimit
      let head = isRefused ? Self.head(503, []) : partHead(exchange.range)
      let decision = machine.judge(head, connection: connection, now: now, wallClock: 1_000_000)
      if case .take = decision {
        exchanges[connection]?.isAnswered = true
      } else {
        end(connection, isRefused ? .finished : .stopped, closes: !isRefused)
      }
    }
  }

  private func partHead(_ range: ByteRange) -> ResponseHead {
    Self.head(
      206,
      [
        ("Content-Range", "bytes \(range.httpSpec)/\(shape.length)"), ("Content-Length", "\(range.count)"),
        ("ETag", "\"a\""),
      ])
  }

  private static func head(_ status: Int, _ fields: [(String, String)]) -> ResponseHead {
    var headers = HeaderBlock()
    for (name, value) in fields { headers.append(name: name, value: value) }
    return ResponseHead(status: status, minorVersion: 1, headers: headers)
  }

  // MARK: The network

  /// What each connection would send in this tick if it were alone.
  private func demand(_ connection: Int, _ exchange: Exchange) -> Double {
    guard exchange.isAnswered, let flow = flows[connection] else { return 0 }
    var most = shape.connectionRate
    if flow.number == shape.trickling { most = 400 }
    if flow.number == shape.stalling, exchange.sent > 1_000_000 { most = 0 }
    return min(most, flow.allows(roundTrip: shape.roundTrip, now: now))
  }

  private mutating func send() {
    let active = exchanges.keys.sorted()
    let demands = active.map { demand($0, exchanges[$0]!) }
    let total = demands.reduce(0, +)
    let isPunished = exchanges.values.count { $0.isAnswered } > shape.punishesAbove
    let rate = shape.rate(at: now) * (isPunished ? 0.25 : 1)
    let share = total > rate ? rate / total : 1
    for (connection, demand) in zip(active, demands) where demand > 0 {
      transmit(connection, bytes: demand * share * tick, demand: demand)
    }
    overflow(active, rate: rate)
  }

  private mutating func transmit(_ connection: Int, bytes: Double, demand: Double) {
    guard var flow = flows[connection], var exchange = exchanges[connection] else { return }
    let packets = bytes / TCPFlow.packet
    let isLimited = demand >= flow.allows(roundTrip: shape.roundTrip, now: now) * 0.999
    flow.acknowledge(packets: packets, isLimited: isLimited, roundTrip: shape.roundTrip, now: now)
    if shape.loss > 0 {
      let whole = pow(1 - shape.loss, packets)
      if Double.random(in: 0..<1, using: &dice) > whole { flow.lose(roundTrip: shape.roundTrip, now: now) }
    }
    flows[connection] = flow
    exchange.credit += bytes
    let count = min(Int(exchange.credit), exchange.range.upper - exchange.position)
    exchange.credit -= Double(count)
    exchange.position += count
    exchange.sent += count
    sentBytes += count
    exchanges[connection] = exchange
    guard count > 0 else { return }
    let (_, goesOn) = machine.received(count, connection: connection)
    if exchange.position >= exchange.range.upper {
      end(connection, .finished, closes: false)
    } else if !goesOn {
      end(connection, .stopped, closes: true)
    }
  }

  /// A queue of one round trip's worth before the bottleneck: what does not fit is dropped, wherever it belongs.
  private mutating func overflow(_ active: [Int], rate: Double) {
    let room = 2 * max(rate * shape.roundTrip, 64_000)
    let candidates = active.filter { flows[$0] != nil && exchanges[$0]?.isAnswered == true }
    var flight = candidates.reduce(0.0) { sum, connection in
      sum + min(flows[connection]!.window * TCPFlow.packet, shape.connectionRate * shape.roundTrip)
    }
    for connection in candidates.shuffled(using: &dice) where flight > room {
      let before = flows[connection]!.window
      flows[connection]!.lose(roundTrip: shape.roundTrip, now: now)
      flight -= (before - flows[connection]!.window) * TCPFlow.packet
    }
  }
}
