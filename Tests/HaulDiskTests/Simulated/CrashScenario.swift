// SPDX-License-Identifier: Apache-2.0

import HaulCore
import HaulPlatform
import TestSupport

@testable import HaulDisk

/// What had been promised, or must not be believed any more, from one moment on.
struct Belief {
  /// Chunks of this content that were called durable.
  var durable: (content: ContentName, chunks: Set<Int>)?
  /// Contents that were thrown away for good.
  var gone: Set<ContentName> = []
  /// Chunks that rotted on the disk, until they are struck out.
  var damaged: Set<Int> = []
  /// The file that is getting its final name, and whether it was told to have it.
  var finishing: ContentName?
  var isFinished = false
  /// The generation whose digest was wrong, and is known to be for good.
  var flagged: UInt64?
}

/// One version of the bytes: each generation has its manifest, each second try after a wrong digest other bytes.
struct ContentName: Hashable {
  var generation: UInt64
  var attempt: UInt64

  static let length = 6 * Workshop.chunkSize + 100

  var bytes: [UInt8] { ContentCache.bytes(of: self) }
  var header: ManifestHeader { Workshop.header(length: Self.length, id: generation) }
}

/// A random life of one part file: writes, commits, stops, kills, damage, clears, and at last the final name.
final class CrashScenario {
  static let target = Target(directory: "sim", name: "file.bin")

  let disk: SimulatedDisk
  let syncs: Bool
  private var dice: SeededGenerator
  private var part: PartFile
  private var content = ContentName(generation: 1, attempt: 1)
  private(set) var beliefs: [(from: Int, belief: Belief)] = [(0, Belief())]

  init(seed: UInt64, syncs: Bool = true, omitting point: String? = nil) throws {
    dice = SeededGenerator(seed: seed)
    disk = SimulatedDisk(omitting: point)
    self.syncs = syncs
    disk.enter("open")
    part = try PartFile.open(Self.target, overwrite: false, sync: syncs, disk: disk)
    try begin()
  }

  func belief(at moment: Int) -> Belief { beliefs.last { $0.from <= moment }?.belief ?? Belief() }

  private func believe(_ change: (inout Belief) -> Void) {
    var belief = beliefs[beliefs.count - 1].belief
    change(&belief)
    beliefs.append((disk.now, belief))
  }

  /// Lives until the file has its name.
  /// - Parameter favoured: the phase that is to come often.
  func run(acts: Int = 40, favouring favoured: String = "") throws {
    for _ in 0..<acts {
      if favoured == "distrust", Bool.random(using: &dice) { try damage() }
      if favoured == "adopt", Bool.random(using: &dice) { try killInCommit() }
      if favoured == "mismatch", Bool.random(using: &dice) { try clear(mismatch: true) }
      try act()
    }
    try finish()
  }

  private func act() throws {
    switch Int.random(in: 0..<100, using: &dice) {
    case 0..<52: try writeSome()
    case 52..<72: try commit(.periodic)
    case 72..<80: try reopen(stop: true)
    case 80..<84: try reopen(stop: false)
    case 84..<88: try killInCommit()
    case 88..<92: try damage()
    case 92..<96: try clear(mismatch: true)
    default: try clear(mismatch: false)
    }
  }

  // MARK: What can happen

  private func begin() throws {
    disk.enter("begin")
    try part.begin(grid: content.header.grid, header: content.header, adopt: false)
    try part.reserve()
  }

  private func writeSome() throws {
    let start = Int.random(in: 0..<ContentName.length, using: &dice)
    let end = min(ContentName.length, start + Int.random(in: 1...2 * Workshop.chunkSize, using: &dice))
    try part.put(content.bytes, start..<end, generation: part.snapshot().generation)
  }

  private func commit(_ kind: CommitKind) throws {
    disk.enter(
      kind == .stop ? "stop" : part.ledger.withLock { $0.manifest == nil } ? "first commit" : "commit")
    // The writer goes on meanwhile, but not while a program stops.
    let (part, bytes, seed) = (part, content.bytes, dice.next())
    if kind == .periodic {
      disk.meanwhile.withLock {
        $0 = {
          let start = Int(seed % UInt64(ContentName.length))
          let end = min(ContentName.length, start + Workshop.chunkSize + 1)
          try? part.put(bytes, start..<end, generation: part.snapshot().generation)
        }
      }
    }
    defer { disk.meanwhile.withLock { $0 = nil } }
    let result = try part.commit(kind)
    guard syncs, result.wrote else { return }
    let bitmap = part.ledger.withLock { $0.manifest?.committed.bitmap }
    let chunks = Set((0..<(bitmap?.count ?? 0)).filter { bitmap?[$0] == true })
    believe { $0.durable = (content, chunks) }
  }

  private func reopen(stop: Bool) throws {
    if stop { try commit(.stop) }
    part.close()
    disk.enter("open")
    part = try PartFile.open(Self.target, overwrite: false, sync: syncs, disk: disk)
    guard part.resume != nil else {
      believe { $0.durable = nil }
      return try beginNext()
    }
    disk.enter("adopt")
    let marked = try part.adoptAndProve(disk)
    // What was adopted is called durable from here on.
    if syncs { believe { $0.durable = (content, marked) } }
  }

  /// Its last slot may then be in the page cache only.
  private func killInCommit() throws {
    disk.state.withLock { $0.syncsToLive = Int.random(in: 1...3, using: &dice) }
    let died = (try? commit(.periodic)) == nil
    disk.state.withLock { $0.syncsToLive = nil }
    if died { try reopen(stop: false) }
  }

  /// A chunk rots, also on the disk; somebody notices.
  private func damage() throws {
    let chunk = Int.random(in: 0...6, using: &dice)
    guard part.snapshot().writtenBytes > 0, part.expectedSum(ofChunk: chunk) != nil else { return }
    believe { belief in
      belief.damaged.insert(chunk)
      belief.durable?.chunks.remove(chunk)
    }
    disk.rot(Self.target.partName, at: chunk * Workshop.chunkSize)
    disk.enter("distrust")
    try part.distrust([chunk])
    believe { $0.damaged.remove(chunk) }
  }

  private func clear(mismatch: Bool) throws {
    believe { belief in
      belief.durable = nil
      if !mismatch { belief.flagged = nil }
    }
    disk.enter(mismatch ? "mismatch" : "clear")
    try part.clear(mismatch: mismatch)
    let old = content
    believe { $0.gone.insert(old) }
    if mismatch {
      content.attempt += 1
      believe { $0.flagged = content.generation }
    } else {
      try beginNext()
    }
  }

  private func beginNext() throws {
    content = ContentName(generation: content.generation + 1, attempt: 1)
    believe { $0.flagged = nil }
    try begin()
  }

  private func finish() throws {
    let gaps = part.state.withLock { $0.written.gaps(in: ByteRange(0, ContentName.length)) }
    for gap in gaps {
      try part.put(content.bytes, gap.lower..<gap.upper, generation: part.snapshot().generation)
    }
    believe { $0.finishing = content }
    disk.enter("finish")
    try part.finish(mode: 0o644, modified: nil, overwrite: false)
    believe { $0.isFinished = syncs }
    part.close()
  }
}

extension PartFile {
  /// Goes on from what was found, as the engine does: chunks that only their sums vouch for are read and believed
  /// or struck out.
  /// - Returns: the chunks that a slot marked.
  @discardableResult
  func adoptAndProve(_ disk: SimulatedDisk) throws -> Set<Int> {
    let (rescuable, bitmap) = (resume?.rescuable ?? [], resume?.marked)
    let marked = Set((0..<(bitmap?.count ?? 0)).filter { bitmap?[$0] == true })
    try begin(grid: nil, header: nil, adopt: true)
    try reserve()
    guard !rescuable.isEmpty else { return marked }
    disk.enter("rescue")
    try prepareRescue()
    var failed: [Int] = []
    for chunk in rescuable {
      if try proveRescuable(chunk) { confirmRescued([chunk]) } else { failed.append(chunk) }
    }
    disk.enter("distrust")
    try distrust(failed)
    return marked
  }
}
