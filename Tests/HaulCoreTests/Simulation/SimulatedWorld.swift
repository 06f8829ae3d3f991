// SPDX-License-Identifier: Apache-2.0

import HaulCore
import TestSupport

/// A transfer machine in a world of its own: virtual time, a server that misbehaves by its script, and a model
/// of every byte, with the generation that it is of, that shares nothing with the scheduler.
struct SimulatedWorld {
  /// One request under way, as the server sees it.
  struct Exchange {
    enum Stage { case waitingForHead, redirected, sending, stuck }
    let request: PartRequest
    var range: ByteRange? { request.range }
    /// The version of the file whose bytes it sends.
    let generation: Int
    /// When its link was made, and how many were made before.
    let linkedAt: Double
    let link: Int
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

  var machine: TransferMachine
  private(set) var outcome: Outcome?
  /// What went against the rules.
  private(set) var violations: [String] = []
  private(set) var events = 0
  var now = 0.0
  private(set) var requestCount = 0
  private(set) var startOvers = 0
  /// Every byte that was accepted.
  private(set) var ledger = ByteLedger()
  let server: ServerScript
  var exchanges: [Int: Exchange] = [:]
  /// When the link that is used was made.
  private var linkedAt = 0.0
  private var link = 0
  private(set) var renewals = 0
  private(set) var fallbacks = 0
  /// Places that were compared.
  private(set) var comparisons = 0
  /// Whether all bytes that are being compared are of the generation of those that are there.
  private var isEqual = true
  /// What has gone wrong so far, as far as the script counts it.
  var troubles = 0
  var dice: SeededGenerator
  private let present: ByteRangeSet
  /// A request has begun or ended since the last account.
  private var hasMoved = true
  static let mostEvents = 10_000
  /// In virtual seconds. The longest waits are those that a server asks for.
  static let mostSeconds = 48.0 * 3600

  init(seed: UInt64) {
    dice = SeededGenerator(seed: seed)
    server = ServerScript(&dice)
    var settings = TransferSettings()
    settings.acceptsUnframed = true
    settings.retry = RetryPolicy(
      limit: max(Int.random(in: 0...8, using: &dice), server.neededRetries ?? 0))
    if Bool.random(using: &dice) {
      settings.connections = .fixed(Int.random(in: 1...20, using: &dice))
    }
    settings.policy.firstRequest = 1 << Int.random(in: 10...23, using: &dice)
    let first = server.generations[0]
    let stored = first.identity
    // Where each answer has its own tag, what a manifest stores of one says nothing.
    let isKept = server.tags == .constant && (server.temper == .still || stored.strongest != nil)
    present = isKept ? Self.remains(of: first, &dice) : ByteRangeSet()
    for range in present.ranges { ledger.put(range, of: 0) }
    var resumed: ResumedFile?
    if !present.isEmpty {
      resumed = ResumedFile(grid: ChunkGrid(length: first.length), present: present) { stored.change(to: $0) }
    }
    machine = TransferMachine(settings: settings, resumed: resumed)
  }

  /// What an earlier run has left, now and then.
  private static func remains(
    of generation: ServerScript.Generation, _ dice: inout SeededGenerator
  ) -> ByteRangeSet {
    let chunk = 1 << 20
    let length = generation.length
    var present = ByteRangeSet()
    guard Int.random(in: 0..<4, using: &dice) == 0, length > 0 else { return present }
    for _ in 0..<Int.random(in: 0...6, using: &dice) {
      let lower = Int.random(in: 0..<length, using: &dice) / chunk * chunk
      let upper = min(length, lower + chunk * Int.random(in: 1...9, using: &dice))
      present.insert(ByteRange(lower, upper))
    }
    return present
  }

  var presentBytes: Int { present.count }
  /// A stream begins again at its first byte, so its bytes may come more than once.
  var isStream: Bool { machine.scheduler == nil }

  /// What is wrong with the file that was called complete: nil where every byte is of one generation.
  var wrongFile: String? {
    let found = ledger.generations
    guard found.count <= 1 else { return "bytes of the generations \(found) are mixed" }
    let lengths = found.isEmpty ? server.generations.map(\.length) : [server.generations[found[0]].length]
    guard lengths.contains(ledger.all.count), ledger.all.ranges.count <= 1,
      ledger.all.ranges.first?.lower ?? 0 == 0
    else { return "\(ledger.all.ranges) is no file of \(lengths) bytes" }
    return nil
  }

  mutating func run() {
    advance()
    while outcome == nil, violations.isEmpty {
      events += 1
      if events > Self.mostEvents { return fault("no end after \(events) events") }
      if now > Self.mostSeconds { return fault("no end after \(now) seconds") }
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

  /// One line of what happens, where a single seed is looked at.
  func trace(_ connection: Int, _ what: @autoclosure () -> String) {
    if Seeds.isSingle { print("\(now) s, connection \(connection): \(what())") }
  }

  mutating func fault(_ what: String) { violations.append("at \(now) s: \(what)") }

  mutating func chance(_ perMille: Int) -> Bool {
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
        ledger.clear()
        machine.restarted(now: now)
        // What else was to be done speaks of requests that are gone; the engine leaves it, too.
        return
      case .compare: compare()
      case .judgeComparison:
        comparisons += 1
        trace(-1, "compared, \(isEqual)")
        machine.compared(isEqual: isEqual, now: now, dice: Double.random(in: 0..<1, using: &dice))
      case .complete:
        outcome = .complete
        if exchanges.contains(where: \.value.isTaken) { fault("complete while bytes are still to come") }
      case .fail(let failure): outcome = .failed(failure)
      }
    }
    // What bytes alone change is counted where they are taken; the rest only now and then.
    if hasMoved || events % 16 == 0 { checkAccount() }
    hasMoved = false
  }

  /// Some chunks that are there.
  private mutating func compare() {
    guard let grid = machine.scheduler?.grid else { return fault("compared without a length") }
    var present = ChunkBitmap(count: grid.count)
    for chunk in 0..<grid.count where ledger.generation(of: grid.range(of: chunk)) != nil {
      present[chunk] = true
    }
    isEqual = true
    let chosen = SampleChunks.choose(from: present, dice: Double.random(in: 0..<1, using: &dice))
    machine.compare(
      with: chosen.map { grid.range(of: $0) }, mayCome: false, now: now,
      dice: Double.random(in: 0..<1, using: &dice))
  }

  /// Every byte is there, missing, or due in one lease.
  private mutating func checkAccount() {
    guard let scheduler = machine.scheduler, outcome == nil else { return }
    var seen = ledger.all
    var count = ledger.all.count
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
    hasMoved = true
    trace(connection, "asks \(asked)")
    if asked.asksOriginal { renewals += 1 }
    // The owner asks the original until there is an answer that it can use.
    if asked.asksOriginal || machine.resource == nil { (linkedAt, link) = (now, link + 1) }
    if range == nil, machine.resource?.startedInRanges == true { fallbacks += 1 }
    if exchanges[connection] != nil { return fault("connection \(connection) has a request already") }
    if let range, range.isEmpty { return fault("an empty range was asked for") }
    // The far half may have been stolen in the same breath.
    if asked.comparesPlace, let range, !ledger.all.gaps(in: range).isEmpty {
      return fault("\(range) is to be compared, and is not there")
    }
    if let range, !asked.isFresh, let due = machine.scheduler?.leases[connection],
      due.range.lower != range.lower || due.requestEnd != range.upper
    {
      return fault("\(range) was asked for, \(due.range) is due")
    }
    exchanges[connection] = Exchange(
      request: asked, generation: generation(), linkedAt: linkedAt, link: link,
      nextAt: now + server.roundTrip * Double.random(in: 1...3, using: &dice),
      rate: pow10(Double.random(in: 5.3...8, using: &dice)))
  }

  private func pow10(_ exponent: Double) -> Double {
    var result = 1.0
    for _ in 0..<Int(exponent) { result *= 10 }
    return result * (1 + 9 * (exponent - exponent.rounded(.down)))
  }

  mutating func end(_ connection: Int, _ ending: RequestEnding) {
    exchanges[connection] = nil
    hasMoved = true
    trace(connection, "\(ending)")
    machine.ended(connection: connection, ending, now: now, dice: Double.random(in: 0..<1, using: &dice))
  }

  mutating func cut(_ connection: Int) {
    end(connection, .failed(TransferFailure(.network, "cut"), isPassing: true))
  }

  /// Bytes are held against those that are there.
  mutating func compare(_ range: ByteRange, of generation: Int) {
    if !range.isEmpty, ledger.generation(of: range) != generation { isEqual = false }
  }

  /// Bytes of a generation are written at their place.
  mutating func take(_ range: ByteRange, of generation: Int) {
    guard !range.isEmpty else { return }
    if !isStream, !ledger.all.intersection(range).isEmpty { fault("bytes of \(range) are accepted twice") }
    if range.upper > server.generations[generation].length { fault("bytes behind the end are accepted") }
    ledger.put(range, of: generation)
  }
}
