// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDigest
internal import HaulDisk
internal import HaulPlatform

/// Commits, the digest behind the frontier, and chunks that turn out damaged.
extension Driver {
  /// Seconds between two commits, and how many bytes bring the first one forward.
  private static let commitInterval = 1.0
  private static let firstCommitBytes = 64 << 20
  /// A stream starts over for a damaged chunk. After the first time nothing is left of an earlier run, so more
  /// than a few are no accident.
  private static let mostDamagedChunksOfStream = 64

  /// Whether a manifest is worth writing: without a length there is no grid to mark chunks in.
  private var keepsManifest: Bool { machine?.scheduler != nil || machine?.resource?.length != nil }

  func commitIfDue(now: Double) {
    guard case .part(let part)? = output, isWritable, keepsManifest, !commitInFlight else { return }
    let written = part.snapshot().writtenBytes
    guard written != lastCommit.written else { return }
    let isEarly = lastCommit.written == 0 && written - resumedBytes >= Self.firstCommitBytes
    guard now - lastCommit.at >= Self.commitInterval || isEarly else { return }
    commit(now: now)
  }

  func commit(now: Double) {
    guard case .part(let part)? = output, !commitInFlight else { return }
    commitInFlight = true
    lastCommit = (now, part.snapshot().writtenBytes)
    let (mail, id) = (share.mail, id)
    setup.lane.committer.submit {
      mail.post(.committed(Result { () throws(DiskError) in _ = try part.commit(.periodic) }), to: id)
    }
  }

  func committed(_ result: Result<Void, DiskError>, now: Double) {
    commitInFlight = false
    guard stage != .stopping else { return }
    guard case .failure(let error) = result else {
      if let shortage, !shortage.isTrying, waiting.isEmpty { foundRoom(now: now) }
      return
    }
    // There is no room for the manifest. Had a sync failed, the next commit would say so.
    if waitsForRoom, error.mayFindRoom, stage == .fetching || stage == .draining {
      return hasNoRoom(error, now: now)
    }
    stop(DownloadError(error, kept: nil))
  }

  // MARK: Digest

  func startHasher(_ part: PartFile) {
    let algorithms = neededDigests
    hasherOutcome = nil
    hasCaughtUp = resumedBytes == 0
    guard !algorithms.isEmpty || resumedBytes > 0 else { return }
    hasherEpoch += 1
    let prefix = PartPrefix(
      part: part, generation: generation, lane: setup.lane, mail: share.mail, driver: id)
    let hasher = FrontierHasher(source: prefix, grid: grid, algorithms: algorithms)
    self.hasher = hasher
    let (mail, id, epoch) = (share.mail, id, hasherEpoch)
    hasher.start { mail.post(.hashed($0, epoch: epoch), to: id) }
  }

  func hashed(_ outcome: HasherOutcome, epoch: Int) {
    guard epoch == hasherEpoch else { return }
    hashedBytes = hasher?.hashedBytes ?? 0
    hasher = nil
    hasherOutcome = outcome
    if stage == .stopping { return continueStopping() }
    if stage == .clearing { return continueClearing() }
    // It may have read what an answer with a wrong digest brought.
    if !doubted.isEmpty { return strikeDoubted() }
    if case .failed(let error) = outcome {
      return stop(
        DownloadError(
          .disk, "the bytes could not be read back for the digest: \(error)",
          advice: "check the disk; the same command goes on from what is kept"))
    }
    finishIfReady()
  }

  func damaged(_ chunks: [Int], now: Double) {
    guard let grid else { return }
    notice(.damagedChunks(count: chunks.count))
    damagedChunks += chunks.count
    if machine?.scheduler == nil, damagedChunks > Self.mostDamagedChunksOfStream {
      return stop(
        DownloadError(.disk, "the disk does not keep what is written to it", advice: "check the disk"))
    }
    machine?.lost(chunks.map { grid.range(of: $0) }, now: now)
    if stage == .draining {
      stage = .fetching
      isDrained = false
    }
  }

  // MARK: Rescue

  /// Chunks of a killed run that no slot marks but that have a sum: their content proves them, or not.
  func startRescue(_ part: PartFile, chunks: [Int]) {
    guard resumedBytes > 0, !chunks.isEmpty else { return }
    let rescue = Rescue(part: part, chunks: chunks)
    self.rescue = rescue
    let (mail, id, committer) = (share.mail, id, setup.lane.committer)
    rescue.start(committer: committer) { mail.post($0, to: id) }
  }

  func rescueEnded(_ result: Result<Void, DiskError>) {
    rescue = nil
    if stage == .stopping { return continueStopping() }
    if stage == .clearing { return continueClearing() }
    if case .failure(let error) = result { return stop(DownloadError(error, kept: nil)) }
    finishIfReady()
  }
}
