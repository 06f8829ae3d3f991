// SPDX-License-Identifier: Apache-2.0

/// An answer that speaks of another generation: a changed file, another backend, or tags that say nothing.
extension TransferMachine {
  /// So often the question is put without a new byte in between. A server that gives several versions in turn
  /// brings it up again and again.
  static let mostConfirmations = 8
  /// The first bytes are asked for, no more: only the head of the answer counts.
  static let probeRange = ByteRange(0, 1024)

  /// Whether an answer belongs to the generation that is being fetched; nil where nothing speaks against it.
  func change(in identity: Identity) -> ResourceChange? {
    let seen = ignoresTags ? identity.withoutTag : identity
    if let known = resource?.identity { return known.change(to: seen) }
    guard let resumed else { return nil }
    if let length = identity.length, length != resumed.grid.length {
      return .length(was: resumed.grid.length, is: length)
    }
    guard let change = resumed.change(identity) else { return nil }
    // The stored tag is one of several; what came together with it decides.
    if let proven, ignoresTags { return proven.withoutTag.change(to: seen) }
    return change
  }

  /// Sees to what a suspicious answer means. Its lease is missing again.
  mutating func suspect(
    _ change: ResourceChange, _ identity: Identity, connection: Int, now: Double, dice: Double
  ) {
    let failure = TransferFailure(.changed, change.description)
    // The question is out already; its answer will tell.
    guard confirmation == nil else { return }
    if let former, former.change(to: identity) == nil, let known = resource?.identity,
      known.differsOnlyInTag(from: identity)
    {
      // The generation that was given up is back with everything but the tag: there was no change at all.
      return ignoreTags(date: known.lastModified)
    }
    // Known to be another backend's: asked again, another one may answer. But not for ever.
    if strangers.contains(where: { $0.change(to: identity) == nil }), failures.count < 2 {
      return retry(failure, connection: connection, retryAfter: nil, now: now, dice: dice)
    }
    confirmations += 1
    guard confirmations <= Self.mostConfirmations else {
      let why = "the server gives several versions of the file in turn (\(change.description))"
      return fail(TransferFailure(.changed, why))
    }
    confirmation = Confirmation(connection: connection, change: change, suspect: identity)
    retryCount += 1
  }

  /// Asks the next fresh connection, once the slot is free.
  mutating func advanceConfirmation(_ confirmation: Confirmation, now: Double) {
    let index = confirmation.connection
    guard slots[index].isFree(at: now) else { return }
    var request = PartRequest(range: avoidsRanges ? nil : Self.probeRange, isFresh: !confirmation.wasRefused)
    // A link that has just run out cannot tell what the file is now.
    request.asksOriginal = renewing != nil
    slots[index].begin(request, isProbe: true, renewals: renewals, now: now)
    pending.append(.request(connection: index, request))
  }

  /// Judges the answer to the question what the file is now.
  mutating func judgeProbe(_ head: ResponseHead, connection: Int, wallClock: Int) -> HeadDecision {
    var expectation = Expectation(
      asked: slots[connection].asked, known: nil, acceptsWhole: true, now: wallClock)
    expectation.refusesPages = refusesPages
    switch expectation.judge(head) {
    case .partial, .whole, .empty:
      slots[connection].refuse(.identity(Identity(head: head), isOfRange: head.status != 200))
      return head.status == 200 ? .stop : .discard
    case .broken where head.status == 416 && Identity(head: head).length != nil:
      slots[connection].refuse(.identity(Identity(head: head), isOfRange: true))
      return .discard
    case .redirect(let location):
      return .redirect(location: location)
    case .limited(let status, let retryAfter):
      slots[connection].refuse(.limited(status: status, retryAfter: retryAfter, isExtra: false))
      return .discard
    case .refused(let status):
      slots[connection].refuse(.refused(status: status, isExtra: false, isRenewable: false))
      return .discard
    case .broken(let reason):
      slots[connection].refuse(.broken(reason))
      return .stop
    case .boundless(let reason):
      slots[connection].refuse(.boundless(reason))
      return .stop
    case .changed, .conditionFailed:
      slots[connection].refuse(.broken("an answer to another question"))
      return .stop
    }
  }

  /// Takes the answer of one fresh connection.
  /// - Parameter isOfRange: whether it answers to the range that was asked for, as only those do who serve files.
  mutating func heard(
    _ identity: Identity, isOfRange: Bool, connection: Int, now: Double, dice: Double
  ) {
    guard var open = confirmation else { return }
    let outcome = open.heard(identity, isOld: change(in: identity) == nil)
    guard let outcome else {
      confirmation = open
      return
    }
    confirmation = nil
    switch outcome {
    case .oldIsBack(let old): otherBackend(open.suspect, old: old)
    case .changed: agreed(open.change, on: identity, isOfRange: isOfRange)
    case .disagreement(let answers): disagreement(open, answers, connection: connection, now: now, dice: dice)
    }
  }

  private mutating func otherBackend(_ suspect: Identity, old: Identity) {
    let known = resource?.identity ?? old
    proven = proven ?? old
    if known.differsOnlyInTag(from: suspect) {
      ignoreTags(date: known.lastModified)
    } else {
      strangers.append(suspect)
    }
  }

  private mutating func disagreement(
    _ open: Confirmation, _ answers: [Identity], connection: Int, now: Double, dice: Double
  ) {
    let all = answers + [open.suspect]
    if let known = resource?.identity, all.allSatisfy(known.mayDifferOnlyInTag) {
      return ignoreTags(date: known.lastModified)
    }
    if resource == nil, answers.allSatisfy(answers[0].mayDifferOnlyInTag) {
      // Of an earlier run only the tag is known, and this server makes up a new one for each answer.
      ignoresTags = true
      if answers[0].lastModified == nil, !settings.hasTrustedDigest { avoidsRanges = true }
      return changed(open.change.description)
    }
    let why = "the server gives several versions of the file in turn (\(open.change.description))"
    retry(TransferFailure(.changed, why), connection: connection, retryAfter: nil, now: now, dice: dice)
  }

  /// Goes down a tier: from here on length and Last-Modified have to do.
  /// - Parameter date: the Last-Modified of the generation, if any.
  private mutating func ignoreTags(date: String?) {
    ignoresTags = true
    usesConditions = false
    resource?.identity.etag = nil
    // A date that is not strong, such as the time of the answer, tells no version from another.
    let isDated = date != nil && (resource == nil || resource?.identity.strongest != nil)
    guard !isDated, !settings.hasTrustedDigest else { return }
    // Nothing stays the same from answer to answer but the length: only one answer belongs together for sure.
    let why = "the server's ETags differ from answer to answer, and it gives no date"
    avoidsRanges = true
    if phase == .ranges { return fallBack(why) }
    if phase == .learning, resumed != nil { changed(why) }
    // What the stream has brought before came from nobody knows which of them.
    if phase == .stream, streamBest > 0 || resource?.startedInRanges == true || resumed != nil {
      startOver(TransferFailure(.changed, why))
    }
  }

  /// Everybody says the same. Whether it is the file that they speak of is another question: a login page and an
  /// error text agree with themselves as well.
  private mutating func agreed(_ change: ResourceChange, on identity: Identity, isOfRange: Bool) {
    // Of an earlier run only what had a strong validator is kept.
    let old = resource?.identity
    let isVouchedFor = isOfRange || identity.strongest != nil || (old != nil && old?.strongest == nil)
    guard isVouchedFor, old.map(identity.sharesTag) != true else {
      let why =
        "something else comes instead of the file (\(change.description)), and no validator speaks for it"
      return fail(TransferFailure(.changed, why))
    }
    if changes == 1, let former, let old, old.differsOnlyInTag(from: former),
      old.differsOnlyInTag(from: identity)
    {
      return oneAnswerOnly()
    }
    changed(change.description)
  }

  /// Three versions with one length and one date: rather three backends with tags of their own. But who knows:
  /// one answer brings it all.
  private mutating func oneAnswerOnly() {
    changes += 1
    ignoresTags = true
    avoidsRanges = true
    let why = "the server's ETags differ from answer to answer"
    startOver(TransferFailure(.changed, why))
  }

  /// The file is another one now, or nobody can tell any more: what is there is of no use.
  private mutating func changed(_ why: String) {
    if let resumed, !resumed.isSameSource { return fail(TransferFailure(.otherFile, why)) }
    guard settings.restartsOnChange else {
      return fail(TransferFailure(.changed, "the file has changed on the server: \(why)"))
    }
    changes += 1
    guard changes == 1 else {
      return fail(TransferFailure(.changed, "the file is being modified: \(why)"))
    }
    former = resource?.identity
    startOver(TransferFailure(.changed, "the file has changed on the server: \(why)"))
  }
}
