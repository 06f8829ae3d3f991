// SPDX-License-Identifier: Apache-2.0

/// What a transfer knows about one of its connections.
struct ConnectionSlot: Sendable {
  enum State: Sendable, Equatable {
    /// May take a lease from `since` on.
    case free(since: Double)
    /// A request is out, its head has not come.
    case asking(since: Double)
    /// Its body is coming.
    case receiving
    /// Its answer was no; the end of the request is awaited.
    case refusedHead
  }

  /// Why the present request is not going to bring what it was sent for.
  enum Verdict: Sendable, Equatable {
    /// - `isExtra`: whether others were being served when the answer came.
    case limited(status: Int, retryAfter: Int?, isExtra: Bool)
    /// - `isRenewable`: whether the original URL may lead to a place that does answer.
    case refused(status: Int, isExtra: Bool, isRenewable: Bool)
    /// An answer that speaks of another generation, and what it says of it.
    case suspect(ResourceChange, Identity)
    /// The right validator, from a place that was not compared yet.
    case elsewhere(String)
    /// The same from a place that was found to have other bytes.
    case strange(String)
    /// A server that does not do what the request's condition says; or the file has changed.
    case conditionMishandled
    case broken(String)
    case boundless(String)
    case silent(seconds: Int)
    case unframed
    /// The answer of a fresh connection that was asked what the file is now.
    case identity(Identity, isOfRange: Bool)
    /// The request is of no use any more: the whole transfer goes on in another way.
    case abandoned
  }

  private(set) var state = State.free(since: 0)
  private(set) var request: PartRequest?
  /// Asks what the file is now, and not for its bytes.
  private(set) var isProbe = false
  /// How often the link had been renewed when the request went out, its own renewal included.
  var renewals = 0
  private(set) var verdict: Verdict?
  /// When the last byte came, or the request went out.
  var progressAt = 0.0
  var isHeld = false
  /// Its owner was told to end the request.
  private(set) var isCancelled = false
  /// Failures in a row that brought not one byte.
  var strikes = 0
  /// Since when it has been far behind the others.
  private var behindSince: Double?
  /// How often it was replaced: each time it is given twice as long.
  private var replacements = 0
  /// How many bytes of the body are still legal, or nil where nobody announced an end.
  private var bodyLeft: Int?
  private(set) var bodyBytes = 0
  private var bodyBytesSeen = 0

  var isBusy: Bool {
    if case .free = state { return false }
    return true
  }

  var isReceiving: Bool { state == .receiving }

  var asked: ByteRange? { request?.range }

  /// Whether its head is still to be judged.
  var isAsking: Bool {
    if case .asking = state { return true }
    return false
  }

  func isFree(at now: Double) -> Bool {
    if case .free(let since) = state { return now >= since }
    return false
  }

  mutating func begin(_ request: PartRequest, isProbe: Bool = false, renewals: Int, now: Double) {
    self.request = request
    self.isProbe = isProbe
    self.renewals = renewals
    beginAgain(now: now)
  }

  /// The same request once more, somewhere else.
  mutating func beginAgain(now: Double) {
    state = .asking(since: now)
    verdict = nil
    progressAt = now
    isHeld = false
    isCancelled = false
    bodyLeft = nil
    bodyBytes = 0
    bodyBytesSeen = 0
    behindSince = nil
  }

  /// The head was accepted. Returns how long it took, in seconds.
  mutating func accept(bodyLength: Int?, now: Double) -> Double {
    var waited = 0.0
    if case .asking(let since) = state { waited = now - since }
    state = .receiving
    bodyLeft = bodyLength
    progressAt = now
    return waited
  }

  mutating func refuse(_ verdict: Verdict) {
    state = .refusedHead
    self.verdict = verdict
  }

  /// Nothing more of it is wanted, and its owner is still to be told to end it.
  var isToBeEnded: Bool { isBusy && verdict == .abandoned && !isCancelled }

  /// Whether it serves all connections: it is no extra one, whatever becomes of it.
  var servesAll: Bool { isProbe || comparesPlace || request?.asksOriginal == true }

  /// Its bytes are compared, and go nowhere else.
  var comparesPlace: Bool { request?.comparesPlace == true }

  /// An earlier verdict stays: it may have come with a body that never ends.
  mutating func cancel(afterSilence seconds: Int) {
    isCancelled = true
    if verdict == nil { verdict = .silent(seconds: seconds) }
  }

  /// Whether it has been behind for `seconds`, or for twice as long after each replacement.
  mutating func isTooSlow(_ isBehind: Bool, for seconds: Double, now: Double) -> Bool {
    guard isBehind else {
      behindSince = nil
      return false
    }
    let since = behindSince ?? now
    behindSince = since
    return now - since >= seconds * Double(1 << min(replacements, 10))
  }

  /// Its request is given up for a new one.
  mutating func replace() {
    replacements += 1
    refuse(.abandoned)
  }

  /// Cuts `count` to what the head has announced.
  mutating func take(_ count: Int) -> Int {
    let taken = min(count, bodyLeft ?? count)
    if taken > 0 { strikes = 0 }
    bodyBytes += taken
    if bodyLeft != nil { bodyLeft = (bodyLeft ?? 0) - taken }
    return taken
  }

  mutating func end(waitingUntil: Double) {
    state = .free(since: waitingUntil)
    request = nil
    isProbe = false
    verdict = nil
    isHeld = false
  }

  /// Whether nothing has come for `seconds`. Notes progress as it looks, so that no clock is read per byte.
  mutating func isSilent(for seconds: Double, now: Double) -> Bool {
    guard isBusy, !isCancelled else { return false }
    if isHeld || bodyBytes != bodyBytesSeen {
      bodyBytesSeen = bodyBytes
      progressAt = now
    }
    return now - progressAt > seconds
  }
}
