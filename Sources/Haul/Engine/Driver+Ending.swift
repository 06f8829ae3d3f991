// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDigest
internal import HaulDisk
internal import HaulPlatform
internal import HaulTransport

/// Completing, starting over, stopping.
extension Driver {
  // MARK: Completing

  /// Everything was received: wait for the writer behind the last buffer.
  func drain() {
    stage = .draining
    isDrained = false
    isPaced = false
    // Whoever still asks or sends has nothing to bring; its slot has to be free should chunks prove damaged.
    removeTransfers(keepingBytes: true)
    for connection in connections {
      machine?.ended(connection: connection.index, .stopped, now: monotonicSeconds(), dice: 0)
    }
    barrier()
  }

  func barrier() {
    barriers += 1
    let (mail, id, number) = (share.mail, id, barriers)
    writer.submit { mail.post(.drained(barrier: number), to: id) }
  }

  func drained() {
    switch stage {
    case .draining:
      isDrained = true
      switch output {
      case .part(let part)?:
        if let resource = machine?.resource, resource.length == nil, machine?.scheduler == nil {
          part.declareComplete(length: part.snapshot().writtenBytes)
        }
        finishIfReady()
      case .stream(let sink)?:
        let (mail, id) = (share.mail, id)
        writer.submit { mail.post(.streamHashed(sink.finish()), to: id) }
      default: break
      }
    case .clearing:
      isDrained = true
      continueClearing()
    case .stopping:
      isDrained = true
      continueStopping()
    default: break
    }
  }

  /// Goes on to the final name once the writer, the digest and the rescue have all caught up.
  func finishIfReady() {
    guard stage == .draining, isDrained, rescue == nil, case .part(let part)? = output else { return }
    guard hasher == nil, doubted.isEmpty else { return }
    let snapshot = part.snapshot()
    if let length = machine?.resource?.length ?? machine?.scheduler?.grid.length {
      guard snapshot.writtenBytes == length else {
        return stop(
          DownloadError(
            .other, "\(snapshot.writtenBytes) of \(length) bytes were written although all had come",
            advice: "this is a fault in Haul: please report it; the same command goes on from what is kept"))
      }
    }
    switch verdict(on: computedDigests) {
    case .differs(let wanted, let found, let field): return digestDiffers(wanted, found, field, part: part)
    case .notComputed: return stop(noDigestError)
    case .matches, .unchecked: break
    }
    publishName(of: part) {}
  }

  /// Gives the complete file its name. `first` runs on the committer before.
  func publishName(of part: PartFile, first: @escaping @Sendable () throws(DiskError) -> Void) {
    stage = .finishing
    let overwrites = plan.options.overwrites
    let (mail, id) = (share.mail, id)
    setup.lane.committer.submit {
      mail.post(
        .finished(
          Result { () throws(DiskError) in
            try first()
            try part.finish(mode: FileMode.ofNewFiles, modified: nil, overwrite: overwrites)
            part.close()
          }), to: id)
    }
  }

  func finished(_ result: Result<Void, DiskError>) {
    if case .failure(let error) = result {
      return stop(DownloadError(error, kept: nil))
    }
    guard case .part(let part)? = output else { return }
    succeed(path: pathText, length: part.snapshot().writtenBytes, digests: computedDigests)
  }

  func streamHashed(_ digests: DigestSet) {
    guard stage == .draining, case .stream(let sink)? = output else { return }
    let length = sink.snapshot.writtenBytes
    do throws(DiskError) { try sink.close() } catch { return end(.failure(DownloadError(error, kept: nil))) }
    switch verdict(on: digests) {
    case .differs(let wanted, let found, let field):
      return end(
        .failure(
          DownloadError(
            .digestMismatch, mismatchMessage(wanted, found, field),
            advice: mismatchAdvice(field, isStream: true))))
    case .notComputed: return end(.failure(noDigestError))
    case .matches, .unchecked: succeed(path: sink.path, length: length, digests: digests)
    }
  }

  /// Where the file is to be.
  var pathText: String {
    plan.pathText(name: name ?? FileName.fallback)
  }

  private func succeed(path: String, length: Int, digests: DigestSet) {
    publish()
    let verdict = self.verdict(on: digests)
    var checksum: Checksum?
    if case .matches(let digest, _) = verdict { checksum = Checksum(digest) }
    end(
      .success(
        DownloadResult(
          path: path, length: length, sha256: digests[.sha256].map { HexDigest(bytes: $0).hex },
          checksum: checksum, digestStatus: status(of: verdict, digests),
          receivedBytes: discardedBytes + (machine?.receivedBytes ?? 0) + (machine?.comparedBytes ?? 0),
          resumedBytes: resumedBytes,
          seconds: monotonicSeconds() - startedAt, retries: machine?.retryCount ?? 0,
          connections: max(mostBusy, 1), wasComplete: false, comparedChunks: comparedChunks,
          adoptedChunks: adoptedChunks)))
  }

  func endComplete(length: Int, _ digests: DigestSet) {
    let verdict = self.verdict(on: digests)
    end(
      .success(
        DownloadResult(
          path: pathText, length: length, sha256: digests[.sha256].map { HexDigest(bytes: $0).hex },
          checksum: plan.wanted.map(Checksum.init), digestStatus: status(of: verdict, digests),
          receivedBytes: 0, resumedBytes: length,
          seconds: monotonicSeconds() - startedAt, retries: 0, connections: 0, wasComplete: true)))
  }

  // MARK: A wrong digest

  /// Once everything is fetched again in place, over one connection; the second time it is the file that is wrong.
  private func digestDiffers(
    _ wanted: ExpectedDigest, _ found: [UInt8], _ field: DigestField?, part: PartFile
  ) {
    mismatches += 1
    let message = mismatchMessage(wanted, found, field)
    // Where it is another version by now, that is reason enough.
    if mismatches == 1, changeSeen == nil {
      notice(.startingOver(why: message))
      return clear(part, mismatch: true)
    }
    ending = DownloadError(
      .digestMismatch, message + (changeSeen.map { "; \($0)" } ?? ", twice"),
      advice: mismatchAdvice(field, isStream: false))
    stage = .stopping
    let (mail, id) = (share.mail, id)
    setup.lane.committer.submit {
      mail.post(.stopped(Result { () throws(DiskError) in try part.clear(mismatch: true) }), to: id)
    }
  }

  // MARK: Starting over

  func startOver(_ failure: TransferFailure) {
    // It is not this download's to throw away.
    if trial != nil { return trialFailed(failure.message) }
    if case .stream(let sink)? = output, sink.snapshot.writtenBytes == 0, machine?.receivedBytes == 0 {
      return beginAgain()
    }
    guard case .part(let part)? = output else {
      var error = DownloadError(failure, plan: plan, url: route.url.source.text)
      error.advice = "what was written cannot be taken back; fetch it into a file instead"
      return stop(error)
    }
    if failure.kind == .changed { changeSeen = machine?.hasChanged == true ? failure.message : nil }
    notice(.startingOver(why: failure.message))
    clear(part, mismatch: false)
  }

  /// Nothing has gone out in order yet, so nothing has to be taken back.
  private func beginAgain() {
    removeTransfers(keepingBytes: false)
    dropWaiting()
    declared = DigestLedger()
    machine?.restarted(now: monotonicSeconds())
    stage = .probing
  }

  /// Throws every byte away, durably: first the requests end, then the writer passes a barrier, then the digest
  /// stops, and only then the committer clears.
  func clear(_ part: PartFile, mismatch: Bool) {
    stage = .clearing
    if let memory { headerIsOfThisSource = memory.isSameSource || comparedValidator != nil }
    memory = nil
    // What was compared is thrown away.
    (comparedValidator, comparedPlace) = (nil, nil)
    clearsForMismatch = mismatch
    isWritable = false
    doubted.forgetAll()
    (isPaced, heldSince, shortage) = (false, nil, nil)
    removeTransfers(keepingBytes: false)
    dropWaiting()
    rescue?.cancel()
    part.cancelWaiters()
    barrier()
    isDrained = false
  }

  func continueClearing() {
    guard stage == .clearing, case .part(let part)? = output else { return }
    guard isDrained, hasher == nil, rescue == nil else { return }
    let mismatch = clearsForMismatch
    let (mail, id) = (share.mail, id)
    setup.lane.committer.submit {
      mail.post(.cleared(Result { () throws(DiskError) in try part.clear(mismatch: mismatch) }), to: id)
    }
  }

  func cleared(_ result: Result<Void, DiskError>, now: Double) {
    guard stage == .clearing else { return stopIfPending() }
    if case .failure(let error) = result {
      stop(DownloadError(error, kept: nil))
      return stopIfPending()
    }
    (resumedBytes, adoptedChunks) = (0, 0)
    // A link that the original has led to may have run out meanwhile. But where it is the server's own digest
    // that was wrong, the same server has to do better: another mirror's word is about another mirror's file.
    if !clearsForMismatch || plan.wanted != nil { route = route.original }
    hasherOutcome = nil
    hashedBytes = 0
    lastCommit = (now, 0)
    // Without a header there was no length, and the next answer may tell one: then the file begins anew.
    refetchesInPlace = clearsForMismatch && header != nil
    // Another generation has other digests.
    if !clearsForMismatch { declared = DigestLedger() }
    if clearsForMismatch {
      // The same generation again: a file that has changed meanwhile is an error, not a second chance. Where
      // the user's digest tells in the end, a mirror that calls it otherwise may bring it: nothing is left
      // that it could mix with.
      let comparesValidator = headerIsOfThisSource && plan.wanted == nil
      startMachine(
        resumed: header.map {
          ResumedFile(
            grid: $0.grid, present: ByteRangeSet(),
            change: PartMemory.comparison(with: $0, isSameSource: comparesValidator))
        })
      if machine?.isComplete == true { prepare() }
    } else if machine != nil {
      header = nil
      headerIsOfThisSource = true
      machine?.restarted(now: now)
      stage = .probing
    } else {
      headerIsOfThisSource = true
      startMachine(resumed: nil)
    }
  }

  // MARK: Stopping

  func fail(_ failure: TransferFailure) {
    stop(DownloadError(failure, plan: plan, url: route.url.source.text))
  }

  func cancel(now: Double) {
    // A file that is just being finished may become one in that time; if not, the next run finishes it.
    stopDeadline = stopDeadline ?? now + plan.options.stopPatience
    if stage != .finishing { stop(interruptedError()) }
  }

  func interruptedError() -> DownloadError {
    DownloadError(.interrupted, "interrupted: \(plan.sourceText)")
  }

  /// Ends the download with an error, after everything that has come is durable.
  func stop(_ error: DownloadError) {
    guard stage != .stopping, stage != .ended else { return }
    ending = error
    let was = stage
    stage = .stopping
    isPaced = false
    removeTransfers(keepingBytes: isWritable && shortage == nil)
    if !isWritable || shortage != nil { dropWaiting() }
    shortage = nil
    rescue?.cancel()
    proof?.cancel()
    survey?.cancel()
    // The file is still being opened or cleared on the committer; the letter about that ends this.
    if was == .opening || was == .clearing || was == .preparing { return }
    guard output != nil else { return end(.failure(error)) }
    if case .part(let part)? = output { part.cancelWaiters() }
    barrier()
    isDrained = false
  }

  /// A letter came that was awaited when the download was stopped.
  func stopIfPending() {
    guard stage == .stopping else { return }
    if case .part(let part)? = output { part.cancelWaiters() }
    barrier()
    isDrained = false
  }

  func continueStopping() {
    guard stage == .stopping, isDrained, hasher == nil, rescue == nil else { return }
    switch output {
    case .part(let part)?:
      let written = part.snapshot().writtenBytes
      // Nothing of this run and nothing of an earlier one: what is left would only be in the way.
      let isWorthless = written == 0 && memory == nil && mismatches == 0
      let keeps = isWritable && written > 0
      let (mail, id, doubted) = (share.mail, id, doubted.all)
      setup.lane.committer.submit {
        mail.post(
          .stopped(
            Result { () throws(DiskError) in
              if !doubted.isEmpty { try part.distrust(doubted) }
              if keeps { _ = try part.commit(.stop) }
              if isWorthless { try part.remove() }
            }), to: id)
      }
    case .stream(let sink)?:
      try? sink.close()
      end(.failure(ending ?? interruptedError()))
    default: end(.failure(ending ?? interruptedError()))
    }
  }

  func stopped(_ result: Result<Void, DiskError>) {
    var error = ending ?? interruptedError()
    if case .failure(let failure) = result, error.code == .interrupted {
      error = DownloadError(failure, kept: nil)
    }
    if case .part(let part)? = output {
      error.kept = kept(part)
      if error.advice == nil, error.kept?.canResume == false, let obstacleToResume {
        error.advice = "it cannot be gone on from: \(obstacleToResume)"
      }
      part.close()
    }
    end(.failure(error))
  }

  /// The disk needs longer than an interruption may take: say how far it is, and leave it to itself.
  func leaveWithoutDisk() {
    var error = ending ?? interruptedError()
    switch output {
    case .part(let part)?:
      error.kept = kept(part)
      error.message += "; the disk did not finish in \(Int(plan.options.stopPatience)) s"
    case .stream(let sink)?: error.message += "; nobody read the rest from \(sink.path)"
    default: error.message += "; \(pathText) could not be opened until then"
    }
    end(.failure(error))
  }

  private func kept(_ part: PartFile) -> DownloadError.Kept? {
    let snapshot = part.snapshot()
    var (durable, written) = (snapshot.durableBytes, snapshot.writtenBytes)
    // A disk that is full may have had no room for the manifest.
    var canResume = canResume && snapshot.hasManifest
    // What an earlier run left counts only once a generation has begun on it; until then it stands as it was.
    if let memory, !isWritable {
      if case .refuse = memory.verdict { return nil }
      (durable, written, canResume) = (memory.durableBytes, memory.bytes, self.canResume)
    }
    guard written > 0 else { return nil }
    return DownloadError.Kept(
      path: pathText + ".haul-part", durable: durable, written: written, total: grid?.length,
      canResume: canResume)
  }

  func end(_ outcome: Result<DownloadResult, DownloadError>) {
    publish()
    stage = .ended
    adoption = nil
    removeTransfers(keepingBytes: false)
    dropWaiting()
    download.end(outcome)
  }
}
