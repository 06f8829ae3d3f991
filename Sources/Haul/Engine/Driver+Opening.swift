// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDigest
internal import HaulDisk
internal import HaulPlatform
internal import HaulTransport

extension Driver {
  // MARK: Opening the file

  /// Opens the output on the committer, so that no slow disk holds up the engine.
  func open() {
    guard let name else { return }
    stage = .opening
    let (disk, plan, mail, id) = (share.disk, plan, share.mail, id)
    setup.lane.committer.submit {
      let opener = OutputOpener(plan: plan, name: name, disk: disk)
      if let digest = plan.wanted, opener.mayBeComplete {
        // Hashing a large file takes long; the committer has other downloads to care for.
        return startThread(name: "haul-verify") { mail.post(.opened(opener.openOrVerify(digest)), to: id) }
      }
      if opener.mayWait {
        mail.post(.awaitsReader, to: id)
        return startThread(name: "haul-open") { mail.post(.opened(opener.open()), to: id) }
      }
      mail.post(.opened(opener.open()), to: id)
    }
  }

  /// A reader that takes longer than a moment to come is worth a word.
  func sayWhatIsAwaited(now: Double) {
    guard stage == .opening, let since = readerAwaitedSince, now - since >= 1 else { return }
    readerAwaitedSince = nil
    notice(.waitingForReader(of: pathText))
  }

  func opened(_ result: Result<OpenedOutput, DownloadError>) {
    guard stage != .stopping else { return openedTooLate(result) }
    switch result {
    case .failure(let error): end(.failure(error))
    case .success(.complete(let length, let digests)): endComplete(length: length, digests)
    case .success(let output):
      self.output = output
      if case .stream(let sink) = output {
        notice(.streaming(to: sink.path))
        isWritable = true
      }
      continueOpening(output)
    }
  }

  /// The download was stopped while its file was being opened.
  private func openedTooLate(_ result: Result<OpenedOutput, DownloadError>) {
    guard case .success(let output) = result else { return end(.failure(ending ?? interruptedError())) }
    self.output = output
    if case .part(let part) = output {
      memory = part.resume.map { PartMemory(state: $0, plan: plan, name: name ?? "") }
    }
    stopIfPending()
  }

  private func text(_ doubt: SyncDoubt) -> String {
    let folder = plan.directory == "." ? "this folder" : plan.directory
    return switch doubt {
    case .inMemory: "\(folder) is in memory (tmpfs)"
    case .fuse: "\(folder) is on a FUSE filesystem, and only that knows what a sync does"
    }
  }

  private func continueOpening(_ output: OpenedOutput) {
    if case .part(let part) = output, let doubt = part.syncDoubt { notice(.doubtfulDisk(why: text(doubt))) }
    if case .part(let part) = output, let why = part.notice { notice(.startingOver(why: why)) }
    guard case .part(let part) = output, let state = part.resume else {
      return machine == nil ? startMachine(resumed: nil) : prepare()
    }
    var memory = PartMemory(state: state, plan: plan, name: name ?? "")
    if memory.isSameSource, let digest = memory.remembered {
      plan = plan.wanting(digest)
      memory = PartMemory(state: state, plan: plan, name: name ?? "")
    }
    self.memory = memory
    switch memory.verdict {
    case .resume(let file, let bytes):
      // A probe that was needed to learn the name began at the first byte; the rest begins at the first gap.
      for connection in connections { engine.loop.remove(connection.transfer) }
      dropWaiting()
      resumedBytes = bytes
      startMachine(resumed: file)
      if machine?.isComplete == true {
        // Nobody is going to declare it again, and nothing new is mixed in.
        if let earlier = memory.earlierDigest { declared.note(earlier, range: nil) }
        prepare()
      }
    case .compare(let trial):
      for connection in connections { engine.loop.remove(connection.transfer) }
      dropWaiting()
      startTrial(trial)
    case .discard(let why):
      if memory.bytes > 0 { notice(.discarding(bytes: memory.bytes, why: why)) }
      clear(part, mismatch: false)
    case .prove(let wanted, let error):
      prove(part, length: state.header.grid.length, wanted, otherwise: error)
    case .refuse(let error):
      part.close()
      end(.failure(error))
    }
  }

  // MARK: Preparing it for bytes

  /// The first answer has told what the file is: give it its grid and its space before the second request.
  func prepare() {
    if awaitsAdoption, let file = plan.adopted { return surveyAdopted(file) }
    guard let output else {
      let suggested = machine?.resource?.suggestedName
      let safe = FileName.sanitise(suggested ?? FileName.fallback)
      name = safe
      if let suggested, suggested != safe { notice(.renamed(from: suggested, to: safe)) }
      return open()
    }
    guard case .part(let part) = output else {
      stage = .fetching
      return announce()
    }
    if let needed = memory?.neededDeclaration, machine?.resource != nil, declared.identity != needed {
      notice(
        .discarding(bytes: resumedBytes, why: "the server does not declare the digest that it had before"))
      return clear(part, mismatch: false)
    }
    if comparesPlaceFirst() { return }
    // It is the reason why what was there is believed, so it decides, whatever later answers say.
    if let earlier = memory?.earlierDigest { declared.note(earlier, range: nil) }
    stage = .preparing
    // The second try after a wrong digest writes over the first one, in the same place, under the same flag.
    if refetchesInPlace { return begun(.success(())) }
    let grid = grid
    let adopts = resumedBytes > 0 || (machine?.isResuming ?? false)
    self.header = adopts ? memory?.state.header : grid.map { makeHeader(grid: $0) }
    if let wanted = plan.wanted { self.header?.expectedDigest = wanted.stored() }
    moveHeader()
    let header = header
    let mail = share.mail
    let id = id
    setup.lane.committer.submit {
      do throws(DiskError) {
        try part.begin(grid: grid, header: header, adopt: adopts)
        try part.reserve()
        mail.post(.begun(.success(())), to: id)
      } catch {
        mail.post(.begun(.failure(error)), to: id)
      }
    }
  }

  /// After a comparison the manifest names the present source: the next run from there need not compare
  /// again. Where this one has no validator to go by, the first one's stays, so that the next run can at
  /// least compare.
  private func moveHeader() {
    guard comparedChunks > 0, let validator = comparedValidator else { return }
    header?.move(
      to: storedSource, place: storedPlace, validatorKind: validator.kind, validatorHash: validator.hash)
  }

  private var storedSource: String {
    ManifestHeader.storable(source: plan.sourceText) { Digest.sha256(of: $0) }
  }

  /// Of the place that has answered.
  var storedPlace: UInt64 {
    ManifestHeader.place(machine?.resource?.place ?? plan.sourceText, of: plan.sourceText) {
      Digest.sha256(of: $0)
    }
  }

  func makeHeader(grid: ChunkGrid) -> ManifestHeader {
    let validator = machine?.resource?.identity.strongest.map(StoredValidator.init)
    return ManifestHeader(
      id: ManifestID(high: .random(in: 1...UInt64.max), low: .random(in: 1...UInt64.max)),
      created: wallClockSeconds(), grid: grid,
      source: storedSource, place: storedPlace,
      validatorKind: validator?.kind ?? .none,
      validatorHash: validator?.hash ?? [UInt8](repeating: 0, count: ManifestHeader.validatorHashBytes),
      expectedDigest: plan.wanted?.stored() ?? declared.identity?.stored(isDeclared: true),
      device: 0, inode: 0)
  }

  func begun(_ result: Result<Void, DiskError>) {
    guard stage == .preparing, case .part(let part)? = output else { return stopIfPending() }
    if case .failure(let error) = result {
      stop(DownloadError(error, kept: nil))
      return stopIfPending()
    }
    stage = .fetching
    isWritable = true
    // Only now: the server has confirmed that it is the same file.
    sayWhatIsGoneOnFrom()
    generation = part.snapshot().generation
    lastCommit = (monotonicSeconds(), 0)
    for (buffer, check) in waiting { dispatch(buffer, check) }
    waiting = []
    startHasher(part)
    startRescue(part, chunks: memory?.state.rescuable ?? [])
    announce()
    // Requests for the other connections go out in this turn, not after the next packet.
    share.mail.wakeUpAgain()
  }

  /// Only after the server has confirmed that it is the same file.
  private func sayWhatIsGoneOnFrom() {
    guard resumedBytes > 0, mismatches == 0, let memory else { return }
    if machine?.resource?.honoursRanges == false {
      // One answer brings it all again, and of that only what is missing is written.
      notice(.discarding(bytes: resumedBytes, why: Self.noParts))
      resumedBytes = 0
    } else {
      notice(.resuming(bytes: resumedBytes))
    }
    guard let remark = memory.digestRemark(plan: plan) else { return }
    notice(remark)
  }

  private static let noParts = "the server cannot send a part of a file"

  /// Why an interruption now would have to start over; nil where it would not, or where nobody knows yet.
  var obstacleToResume: String? {
    guard output?.isStream != true, !canResume, let resource = machine?.resource, resource.length != 0 else {
      return nil
    }
    return resource.honoursRanges
      ? "the server gives no validator (strong ETag or Last-Modified); only a digest or --force-resume goes on"
      : Self.noParts
  }

  private func announce() {
    if let obstacleToResume { notice(.cannotResume(why: obstacleToResume)) }
  }
}
