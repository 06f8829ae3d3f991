// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDigest
internal import HaulDisk
internal import HaulPlatform
internal import HaulTransport
private import Synchronization

/// What a driver is given at its start.
struct DriverSetup: Sendable {
  let id: Int
  let plan: DownloadPlan
  let download: Download
  let lane: DiskLane
  let proxies: ProxySettings
}

/// One download on the engine's thread: feeds the transfer machine with events, does what it says, and passes
/// bytes to the disk and letters between the threads. It decides nothing about HTTP or ranges itself.
///
/// Stages: opening → probing → preparing → fetching → draining → finishing → ended. Damaged chunks lead from
/// draining back to fetching; clearing leads back to probing; stopping can follow any but ended. Where the URL
/// names no file, probing comes before opening.
final class Driver {
  enum Stage: Equatable {
    /// The file is being opened, and what an earlier run left is being read.
    case opening
    /// Waiting for the first answer.
    case probing
    /// The file is given its length and its space; bytes wait in their buffers.
    case preparing
    case fetching
    /// Everything was received. The writer, the digest and the rescue catch up.
    case draining
    /// Everything is being thrown away to begin anew.
    case clearing
    case finishing
    /// Called off or failed; what has come is being made durable.
    case stopping
    case ended
  }

  let setup: DriverSetup
  let engine: Engine
  /// As it was asked for, and with what an earlier run was told beside.
  var plan: DownloadPlan
  let startedAt = monotonicSeconds()
  var stage = Stage.opening
  var machine: TransferMachine?
  var connections: [Connection] = []
  var route: Route
  var output: OpenedOutput?
  var name: String?
  /// What an earlier run left, until it is thrown away.
  var memory: PartMemory?
  /// What the manifest says of this generation; nil while the length is unknown.
  var header: ManifestHeader?
  /// Whether its validator was given by the source that is asked now.
  var headerIsOfThisSource = true
  /// How the file has changed on the server under this download, in words; nil where it has not.
  var changeSeen: String?
  /// Whether a Content-Range in a form of the server's own was told of.
  var hasOddForm = false
  var resumedBytes = 0
  /// Open while another source is compared with what is there.
  var trial: SourceTrial?
  /// How many chunks were found equal.
  var comparedChunks = 0
  /// Under way while a partial file of another program is read.
  var survey: AdoptionSurvey?
  /// That file, once it was read.
  var adoption: Adoption?
  /// How many of its chunks were taken over.
  var adoptedChunks = 0
  /// What the other source calls the file that was compared.
  var comparedValidator: StoredValidator?
  /// Open while a link's new place is compared with what is there: see Driver+Places.
  var comparison: ChunkComparison?
  var otherRoute: Route?
  /// The place that was compared at a resume, as a manifest has it.
  var comparedPlace: UInt64?
  var trials = 0
  /// What came over the network in attempts that were thrown away.
  var discardedBytes = 0
  var damagedChunks = 0
  var mostBusy = 0
  /// What the server's answers declare about the digest of this generation.
  var declared = DigestLedger()
  /// How often the digest was wrong.
  var mismatches = 0
  /// Whether this is the second try after a wrong digest, over the bytes of the first.
  var refetchesInPlace = false

  // Bytes on their way: see Driver+Buffers.
  let account = PoolAccount()
  let flow = WriterFlow()
  var submitted = 0
  var waiting: [(Buffer, BodyCheck?)] = []
  var isWritable = false
  /// Since when the disk holds this download up.
  var heldSince: Double?
  /// Open while the disk is full and the download waits for room: see Driver+FullDisk.
  var shortage: DiskShortage?
  /// Whether the digest holds it up.
  var isPaced = false
  /// Whether the digest has caught up once: what an earlier run left is no lead of this one.
  var hasCaughtUp = false
  var diskWait = 0.0
  var bufferSize = BufferPool.largestBuffer

  // Commits, digest and rescue: see Driver+Disk.
  var generation = 0
  var commitInFlight = false
  var lastCommit = (at: monotonicSeconds(), written: 0)
  var hasher: FrontierHasher?
  var hasherEpoch = 0
  var hasherOutcome: HasherOutcome?
  /// What the last hasher has passed.
  var hashedBytes = 0
  /// Chunks with bytes of an answer that did not have its Content-Digest, until they are struck out.
  var doubted = DoubtedChunks()
  var rescue: Rescue?
  var proof: PartProof?
  var isDrained = false
  /// The number of the last barrier in the writer's queue: the letter of an older one says nothing any more.
  var barriers = 0
  var clearsForMismatch = false

  /// Since when the output is a FIFO that nobody reads; nil where that was said, or is over.
  var readerAwaitedSince: Double?

  // The end: see Driver+Ending.
  var ending: DownloadError?
  var stopDeadline: Double?

  var id: Int { setup.id }
  var download: Download { setup.download }
  var share: EngineShare { engine.share }
  var hasEnded: Bool { stage == .ended }

  init(setup: DriverSetup, engine: Engine) {
    self.setup = setup
    self.engine = engine
    plan = setup.plan
    route = Route(plan: setup.plan)
    name = setup.plan.name
  }

  func start() {
    if name == nil || awaitsAdoption {
      startMachine(resumed: nil)
    } else {
      open()
    }
  }

  /// Starts the decisions of one attempt at the file.
  func startMachine(resumed: ResumedFile?) {
    var settings = plan.transferSettings
    // Bytes in order want one connection; so does a second try after a wrong digest, to rule out a bad mix.
    if output?.isStream == true || mismatches > 0 || trial != nil { settings.connections = .fixed(1) }
    // That second try has to bring the same file: what was put in its place has no say.
    if mismatches > 0 { settings.restartsOnChange = false }
    // The sums of what is there tell whether the bytes belong together.
    if trial != nil { settings.hasTrustedDigest = true }
    settings.beginsByLink = mismatches > 0 && plan.wanted == nil
    discardedBytes += (machine?.receivedBytes ?? 0) + (machine?.comparedBytes ?? 0)
    let machine = TransferMachine(settings: settings, resumed: resumed)
    self.machine = machine
    bufferSize = presentBufferSize
    let options = plan.transportOptions(proxies: setup.proxies)
    connections = (0..<machine.mostConnections).map {
      Connection(
        index: $0, driver: self, route: route, options: options,
        receiveBufferBytes: min(Self.receiveBufferBytes, max(16 * 1024, bufferSize)))
    }
    stage = .probing
  }

  /// By the connections that are allowed now: few large buffers cost less than many small ones. A handful is
  /// taken as given, so that the first buffers of a climb are not larger than the later ones' share.
  private var presentBufferSize: Int {
    share.pool.bufferSize(
      connections: max(min(16, machine?.mostConnections ?? 1), machine?.allowedConnections ?? 1))
  }

  /// What libcurl takes from the kernel at a time: large enough that system calls do not count, small enough
  /// that the bytes are still in the processor's cache when they are copied on.
  private static let receiveBufferBytes = 128 * 1024

  // MARK: Turns

  /// One look around, after each round of the loop.
  /// - Parameter ticks: whether the tenth of a second is over.
  func turn(now: Double, ticks: Bool) {
    guard stage != .ended else { return }
    if let most = plan.options.mostBytes, max(machine?.resource?.length ?? 0, receivedBytes) > most {
      stop(tooLongError(most))
    }
    // First of all: a small file may have come whole in one round with its head, and still needs its place.
    if stage == .probing, trial == nil, machine?.resource != nil { prepare() }
    stopTrialWithoutRanges()
    if isActive {
      for action in machine?.advance(now: now) ?? [] where isActive { perform(action, now: now) }
    }
    paceByDigest(now: now)
    bufferSize = presentBufferSize
    guard ticks else { return }
    mostBusy = max(mostBusy, machine?.busyConnections ?? 0)
    if heldSince != nil { releaseIfRoom(now: now) }
    tryFullDisk(now: now)
    sayWhatIsAwaited(now: now)
    if stage == .fetching || stage == .draining { commitIfDue(now: now) }
    if let stopDeadline, now >= stopDeadline { leaveWithoutDisk() }
    publish()
  }

  /// Whether the machine's actions are carried out. Not while there is no room for bytes: a new request would
  /// only bring more of them.
  private var isActive: Bool { (stage == .probing || stage == .fetching) && !isHeldUp }

  /// Whether nothing is read from the network because something behind it cannot follow.
  var isHeldUp: Bool { heldSince != nil || isPaced || shortage != nil }

  private func perform(_ action: TransferAction, now: Double) {
    switch action {
    case .request(let index, let asked): request(index, asked, now: now)
    case .cancel(let index):
      engine.loop.remove(connections[index].transfer)
      connections[index].submitPartial()
      machine?.ended(connection: index, .stopped, now: now, dice: .random(in: 0..<1))
    case .compare(let index): comparePlace(of: connections[index], now: now)
    case .judgeComparison: judgePlace(now: now)
    case .startOver(let failure): startOver(failure)
    case .complete: if trial == nil { drain() } else { trialEnded() }
    case .fail(let failure): fail(failure)
    }
  }

  // MARK: Letters

  func handle(_ event: DriverEvent) {
    guard stage != .ended else { return }
    let now = monotonicSeconds()
    switch event {
    case .awaitsReader: readerAwaitedSince = now
    case .opened(let result): opened(result)
    case .surveyed(let result): surveyed(result)
    case .begun(let result): begun(result)
    case .roomAvailable: releaseIfRoom(now: now)
    case .writeFailed(let error): stop(DownloadError(error, kept: nil))
    case .noRoom(let error, let buffer, let check, _): hasNoRoom(error, for: buffer, check, now: now)
    case .roomFound: foundRoom(now: now)
    case .committed(let result): committed(result, now: now)
    case .drained(let barrier): if barrier == barriers { drained() }
    case .cleared(let result): cleared(result, now: now)
    case .damaged(let chunks): damaged(chunks, now: now)
    case .rescueEnded(let result): rescueEnded(result)
    case .bodyDiffers(let range, let generation): bodyDiffers(range, generation: generation)
    case .struck(let chunks, let result): struck(chunks, result, now: now)
    case .proven(let digests, let error): proven(digests, otherwise: error)
    case .hashed(let outcome, let epoch): hashed(outcome, epoch: epoch)
    case .streamHashed(let digests): streamHashed(digests)
    case .finished(let result): finished(result)
    case .stopped(let result): stopped(result)
    case .cancel: cancel(now: now)
    }
  }

  private var receivedBytes: Int { machine?.receivedBytes ?? 0 }

  private func tooLongError(_ most: Int) -> DownloadError {
    DownloadError(
      .invalidRequest,
      "\(route.url.source.text) is longer than \(most >> 20) MiB, so it is not what it should be",
      advice: "check the URL")
  }

  func post(_ event: DriverEvent) { share.mail.post(event, to: id) }

  func notice(_ notice: DownloadNotice) { download.notice(notice) }

  /// Puts the present state where everybody can read it.
  func publish() {
    let snapshot = output?.snapshot ?? PartSnapshot()
    let inMemory = machine.map { max(0, $0.receivedBytes) } ?? 0
    let total = machine?.resource?.length ?? machine?.scheduler?.grid.length
    download.update { progress in
      switch stage {
      case .opening, .probing, .preparing, .clearing: progress.phase = .starting
      case .fetching: progress.phase = .fetching
      case .draining, .finishing, .stopping: progress.phase = .finishing
      case .ended: progress.phase = .ended
      }
      progress.name = name
      progress.total = total
      progress.written = snapshot.writtenBytes
      progress.durable = snapshot.durableBytes
      progress.received = max(snapshot.writtenBytes, min(resumedBytes + inMemory, total ?? .max))
      progress.hashed = hasher?.hashedBytes ?? proof?.hashedBytes ?? hashedBytes
      progress.resumed = resumedBytes
      progress.connections = machine?.busyConnections ?? 0
      progress.retries = machine?.retryCount ?? 0
      progress.trouble = shortage?.text ?? (stage == .probing || stage == .fetching ? machine?.trouble : nil)
      progress.canResume = machine?.resource == nil ? nil : canResume
      progress.diskWait = diskWait
    }
  }

  /// The chunks of the file, once its length is known. A partial has it before the server is asked.
  var grid: ChunkGrid? {
    memory?.state.header.grid ?? machine?.scheduler?.grid
      ?? machine?.resource?.length.map { ChunkGrid(length: $0) }
  }

  /// Whether the same request can go on from what is kept.
  var canResume: Bool {
    guard output?.isStream != true else { return false }
    // Before the first answer an earlier run's bytes stand for themselves.
    guard let machine, machine.resource != nil, trial == nil else { return memory?.canResume ?? false }
    return machine.canResume(hasTrustedDigest: hasTrustedDigest || plan.options.forcesResume)
  }
}
