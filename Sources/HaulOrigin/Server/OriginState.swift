// SPDX-License-Identifier: Apache-2.0

/// All that the origin's threads share. Behind one `Monitor`; the threads decide here and act outside.
struct OriginState: Sendable {
  var configuration: OriginConfiguration
  var resources: [String: OriginResource]
  var journal = Journal()
  var openGates: Set<String> = []
  var stopping = false
  /// Open connections by number, so that stopping can wake their threads.
  private var sockets: [Int: Socket] = [:]
  private var served = 0
  private var finishedThreads: [Int] = []
  private var total: TokenBucket?

  init(_ configuration: OriginConfiguration, _ resources: [String: OriginResource]) {
    self.configuration = configuration
    self.resources = resources
  }

  struct Admission: Sendable {
    var connection: Int
    var refusal: OriginConfiguration.Refusal?
    var sendBuffer: Int?
  }

  /// Nil when the origin is stopping.
  mutating func admit(_ socket: Socket) -> Admission? {
    if stopping { return nil }
    let limit = configuration.connectionLimit
    let refusal = limit.flatMap { served >= $0.count ? $0.refusal : nil }
    if refusal == nil { served += 1 }
    journal.connectionOpened(refused: refusal != nil)
    sockets[journal.connectionsAccepted] = socket
    return Admission(
      connection: journal.connectionsAccepted, refusal: refusal, sendBuffer: configuration.sendBuffer)
  }

  /// To be called before the descriptor is closed: its number may be another's right after.
  mutating func leave(_ admission: Admission) {
    sockets[admission.connection] = nil
    if admission.refusal == nil { served -= 1 }
    journal.connectionClosed()
  }

  mutating func threadFinished(_ connection: Int) { finishedThreads.append(connection) }

  mutating func takeFinishedThreads() -> [Int] {
    defer { finishedThreads = [] }
    return finishedThreads
  }

  mutating func stop() {
    stopping = true
    for socket in sockets.values { socket.shutDown() }
  }

  struct Assignment: Sendable {
    var sequence: Int
    var resource: OriginResource?
    var faults: [Fault] = []
    var refusal: OriginConfiguration.Refusal?
    var bytesPerSecond: Int?
  }

  /// Journals the request and finds what it is answered from.
  mutating func begin(_ request: RequestHead?, connection: Int, now: Int) -> Assignment {
    let sequence = journal.begin(request, connection: connection, now: now)
    var assignment = Assignment(sequence: sequence)
    if let limit = configuration.requestLimit, journal.activeRequests > limit.count {
      assignment.refusal = limit.refusal
      return assignment
    }
    guard let request else { return assignment }
    assignment.resource = resources[request.path]
    assignment.faults = resources[request.path]?.admit(request, connection: connection) ?? []
    let rates = [configuration.bytesPerSecondPerConnection, assignment.resource?.bytesPerSecond]
    assignment.bytesPerSecond = rates.compactMap { $0 }.min()
    return assignment
  }

  /// Bytes worth sending at once under the total cap; nil without one.
  mutating func totalSlice(now: Int) -> Int? {
    guard let rate = configuration.bytesPerSecondTotal else {
      total = nil
      return nil
    }
    if total == nil { total = TokenBucket(rate: rate, now: now) }
    total?.change(rate: rate)
    // Finer than a connection's own slices: many connections take turns.
    return total?.slice(nanoseconds: 2_000_000)
  }

  mutating func reserveTotal(_ bytes: Int, now: Int) -> Int { total?.reserve(bytes, now: now) ?? 0 }
}
