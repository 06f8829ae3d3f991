// SPDX-License-Identifier: Apache-2.0

/// The decisions of one download, from the first request to the last byte received: events in, actions out.
///
/// Phases and their legal successors: learning → ranges, stream, complete, failed · ranges → stream, complete,
/// failed · stream → complete, failed · complete → ranges (when bytes prove damaged) · any but complete and
/// failed → startingOver → learning. An open ``confirmation`` or ``comparison`` holds up whichever phase it is.
/// Time, dice and the wall clock come as arguments. Its owner reports every event of a connection in order.
package struct TransferMachine: Sendable {
  enum Phase: Sendable, Equatable { case learning, ranges, stream, startingOver, complete, failed }

  package let settings: TransferSettings
  var phase = Phase.learning
  var slots: [ConnectionSlot]
  var budget: ConnectionBudget
  package internal(set) var scheduler: Scheduler?
  /// Nil until the first response was accepted.
  package internal(set) var resource: RemoteResource?
  var resumed: ResumedFile?
  /// Bytes accepted by this run, those that were thrown away later included.
  package internal(set) var receivedBytes = 0
  /// How often a request had to be repeated.
  package internal(set) var retryCount = 0
  var failures = FailureCount()
  var lastFailure: TransferFailure?
  /// First answers that made no sense.
  var brokenAnswers = 0
  /// No request carries a Range field: the answers to those with it made no sense.
  var avoidsRanges = false
  /// Answers in a row that were not the part asked for.
  var rangeStrikes = 0
  /// Whether leases carry a condition. Not where the server was seen to mishandle them.
  var usesConditions = true

  // Doubts about the generation: see TransferMachine+Doubts.
  var confirmation: Confirmation?
  /// Since the last new byte.
  var confirmations = 0
  /// How often the file has changed.
  var changes = 0
  /// Entity tags were seen to differ for one and the same file.
  var ignoresTags = false
  /// An answer that has the validator of the earlier run, in full.
  var proven: Identity?
  /// What other backends call the file.
  var strangers: [Identity] = []
  /// The generation before this one.
  var former: Identity?

  // Other places: see TransferMachine+Places.
  /// Those whose bytes belong together: the first one, and what was found equal to it.
  var places: Set<String> = []
  var strangePlaces: Set<String> = []
  var comparison: PlaceComparison?
  /// How often one was begun since the last new byte.
  var comparisons = 0
  var beginnings = 0
  /// Bytes that came to be compared.
  package internal(set) var comparedBytes = 0
  /// Whether bytes of this generation were accepted in this run.
  var hasBytes = false

  // Links that run out: see TransferMachine+Fallbacks.
  /// The connection that asks the original URL for a new link; the others wait.
  var renewing: Int?
  var renewals = 0
  var renewedAt: Double?
  var hasGainedSinceRenewal = false
  /// The original URL said no as well.
  var isRenewalRefused = false

  /// When the sum of all bytes was last seen to grow, and what it was.
  var paced = (bytes: 0, at: 0.0)

  var streamPosition = 0
  /// The stream ends where its connection does, and nothing tells that from a cut.
  var streamIsUnframed = false
  /// The end of what the stream has brought in any attempt.
  var streamBest = 0
  var pending: [TransferAction] = []

  package init(settings: TransferSettings, resumed: ResumedFile? = nil) {
    self.settings = settings
    self.resumed = resumed
    budget = ConnectionBudget(settings.connections)
    slots = Array(repeating: ConnectionSlot(), count: budget.most)
    if let resumed {
      let scheduler = Scheduler(grid: resumed.grid, present: resumed.present, policy: settings.policy)
      self.scheduler = scheduler
      if scheduler.isComplete { complete() }
    }
  }

  /// Why nothing comes, since the last byte that did; nil where all is well.
  package var trouble: String? { failures.count > 0 ? lastFailure?.message : nil }

  package var isComplete: Bool { phase == .complete }

  /// Whether this run has begun anew because the file is another one by now, as all have agreed.
  package var hasChanged: Bool { changes == 1 }

  /// Whether bytes of an earlier run are part of this one.
  package var isResuming: Bool { resumed != nil }

  /// How many connections there may be at the most: the owner's number of slots.
  package var mostConnections: Int { slots.count }

  /// Whether a connection's body is coming.
  package func isReceiving(_ connection: Int) -> Bool { slots[connection].isReceiving }

  /// How many connections may be busy now.
  package var allowedConnections: Int { budget.allowed }

  /// Connections with a request under way.
  package var busyConnections: Int { slots.count { $0.isBusy } }

  /// Whether bytes of this download can be kept for a later run.
  package func canResume(hasTrustedDigest: Bool) -> Bool {
    guard let resource, resource.length != nil else { return false }
    // One stream that took over from ranges leaves the account of them as it was.
    guard resource.honoursRanges || resource.startedInRanges else { return false }
    // The tag is what was stored, and it will differ.
    if ignoresTags, !hasTrustedDigest { return false }
    return resource.identity.tier(hasTrustedDigest: hasTrustedDigest).canResume
  }

  // MARK: What to do next

  /// Everything that is due at `now`. To be called after each batch of events and every tenth of a second.
  package mutating func advance(now: Double) -> [TransferAction] {
    if let confirmation, isFetching {
      advanceConfirmation(confirmation, now: now)
    } else if let comparison, isFetching {
      advanceComparison(comparison, now: now)
    } else {
      advancePhase(now: now)
    }
    replaceSlow(now: now)
    cancelSilent(now: now)
    defer { pending.removeAll() }
    return pending
  }

  private mutating func advancePhase(now: Double) {
    switch phase {
    case .learning:
      if slots[0].isFree(at: now) { request(0, range: firstRange, now: now) }
    case .stream:
      let index = renewing ?? 0
      if slots[index].isFree(at: now), !slots.contains(where: \.isBusy) {
        streamPosition = 0
        request(index, range: nil, now: now)
      }
    case .ranges: advanceRanges(now: now)
    case .startingOver, .complete, .failed: break
    }
  }

  /// Whether answers are of use.
  var isFetching: Bool { phase == .learning || phase == .ranges || phase == .stream }

  private var firstRange: ByteRange? {
    if avoidsRanges { return nil }
    guard let scheduler, let gap = scheduler.missing.first else {
      return ByteRange(0, settings.policy.firstRequest)
    }
    return ByteRange(gap.lower, min(gap.upper, gap.lower + settings.policy.firstRequest))
  }

  private mutating func advanceRanges(now: Double) {
    guard scheduler != nil else { return }
    // One asks for a new link, the others wait for it.
    let candidates = renewing.map { $0..<$0 + 1 } ?? slots.indices
    scheduler?.measure(now: now)
    let flows = flows(now: now)
    let receiving = slots.count { $0.isReceiving }
    budget.measure(
      bytes: receivedBytes, busy: receiving, roundTrip: scheduler?.roundTrip ?? 0, now: now)
    if budget.takeShedding() { shed(down: budget.allowed) }
    // One that waits before it tries again keeps its place: the others would only fail in its stead. And
    // where nothing has come since, nobody asks before the wait is over.
    var taken = failures.isPausing(at: now) ? slots.count : slots.count { !$0.isFree(at: now) }
    if renewing != nil { taken = 0 }
    for index in candidates where taken < budget.allowed && slots[index].isFree(at: now) {
      guard
        let lease = scheduler?.next(
          connection: index, connections: budget.allowed, mayTakeOver: flows, now: now)
      else { break }
      request(index, range: lease.range, now: now)
      taken += 1
    }
    for index in scheduler?.takeReplaced() ?? [] { slots[index].replace() }
    if scheduler?.isComplete == true { complete() }
  }

  private mutating func request(_ index: Int, range: ByteRange?, now: Double) {
    var request = PartRequest(range: range)
    if phase == .ranges, usesConditions, renewing != index { request.condition = condition }
    request.asksOriginal = renewing == index
    slots[index].begin(request, renewals: renewals, now: now)
    pending.append(.request(connection: index, request))
  }

  /// What leases are bound to. None where the validator could not be sent back as it came.
  private var condition: Validator? {
    guard let validator = resource?.identity.strongest, validator.conditionLine != nil else { return nil }
    return validator
  }

  private mutating func cancelSilent(now: Double) {
    // At a start over the owner ends everything by itself.
    guard phase != .startingOver else { return }
    for index in slots.indices where slots[index].isSilent(for: settings.silenceSeconds, now: now) {
      slots[index].cancel(afterSilence: Int(settings.silenceSeconds))
      pending.append(.cancel(connection: index))
    }
    // Not noted when they were given up: some may have ended by themselves since.
    for index in slots.indices where isFetching && slots[index].isToBeEnded {
      slots[index].cancel(afterSilence: 0)
      pending.append(.cancel(connection: index))
    }
  }

  mutating func complete() {
    phase = .complete
    confirmation = nil
    comparison = nil
    pending.append(.complete)
  }

  mutating func fail(_ failure: TransferFailure) {
    guard phase != .failed else { return }
    phase = .failed
    pending.append(.fail(failure))
  }

  // MARK: Events

  /// The owner has thrown everything away after ``TransferAction/startOver(_:)``; no request is under way.
  package mutating func restarted(now: Double) {
    // Who has to wait still has to. And the best of all attempts stays: one that gets no further than an
    // earlier one has brought nothing.
    for index in slots.indices where slots[index].isBusy { slots[index].end(waitingUntil: now) }
    // What was not told yet speaks of the attempt that is thrown away.
    pending.removeAll()
    phase = .learning
    scheduler = nil
    resource = nil
    resumed = nil
    confirmation = nil
    comparison = nil
    (places, strangePlaces) = ([], [])
    hasBytes = false
    proven = nil
    strangers = []
    rangeStrikes = 0
    usesConditions = true
    renewing = nil
    renewedAt = nil
    isRenewalRefused = false
    // `streamBest` stays: what an earlier attempt has brought already is no progress.
    streamPosition = 0
  }

  /// Bytes that count as present are not the right ones; they have been struck out durably.
  package mutating func lost(_ ranges: [ByteRange], now: Double) {
    guard phase != .startingOver, phase != .failed else { return }
    // Not told yet, and no longer true.
    pending.removeAll { $0 == .complete }
    guard scheduler != nil else {
      // One stream of the whole file: it has passed these bytes, or drops them because they seemed to be there.
      let why = "damaged on the disk, and the server cannot send a part of the file"
      return startOver(TransferFailure(.brokenProtocol, why))
    }
    for range in ranges { scheduler?.lose(range) }
    guard phase == .complete else { return }
    phase = resource == nil ? .learning : .ranges
  }

  /// The owner has no room for a connection's bytes and does not read from it.
  package mutating func hold(connection: Int, _ isHeld: Bool, now: Double) {
    slots[connection].isHeld = isHeld
    slots[connection].progressAt = now
  }

  /// Notes bytes of a body and tells how many of them are wanted, from the front.
  /// - Returns: `wanted`, and whether the rest of the body is wanted too.
  package mutating func received(_ count: Int, connection: Int) -> (wanted: Int, goesOn: Bool) {
    guard slots[connection].isReceiving else { return (0, false) }
    if slots[connection].comparesPlace { return receivedToCompare(count, connection: connection) }
    let allowed = slots[connection].take(count)
    let wanted: Int
    if phase == .stream {
      wanted = allowed
      streamPosition += wanted
      if streamPosition > streamBest {
        streamBest = streamPosition
        failures.progressed()
      }
    } else {
      wanted = scheduler?.received(allowed, connection: connection) ?? 0
      if wanted > 0 { failures.progressed() }
    }
    if wanted > 0 {
      (confirmations, comparisons) = (0, 0)
      hasBytes = true
      if slots[connection].renewals == renewals { hasGainedSinceRenewal = true }
    }
    receivedBytes += wanted
    guard wanted == count else { return (wanted, false) }
    if let lease = scheduler?.leases[connection], lease.isDone, lease.isCutShort { return (wanted, false) }
    return (wanted, true)
  }
}
