// SPDX-License-Identifier: Apache-2.0

package import HaulCore
internal import HaulPlatform

/// `NAME.haul-part` and its manifest `NAME.haul`, from the first open to the final name.
///
/// Which thread may call what is said at each method: the *committer* does everything that syncs or changes
/// names, the *writer* writes, the *digest* thread reads behind the frontier, and everybody may look. The
/// lock on the data file is held from ``open(_:overwrite:sync:disk:)`` to ``close()``.
///
/// The life of one: open, then either adopt the ``resume`` state or start over, both by
/// ``begin(grid:header:adopt:)``; ``reserve()``; writes and commits; ``finish(mode:modified:overwrite:)``.
package final class PartFile: Sendable {
  package let target: Target
  /// False with `--no-sync`: no sync call is made at all, and every slot says so.
  package let syncs: Bool
  /// What opening threw away, in words for people; nil where nothing was there to lose.
  package let notice: String?

  let disk: any DiskOperations
  let directory: DiskFile
  let data: DiskFile
  /// The data file as it was when it was locked: its device and inode are what names are checked against.
  let identity: FileStatus

  /// The committer's. Its lock is held through a whole commit, so two can never mix, and it is always taken
  /// before `state`'s, never inside it.
  let ledger: Monitor<Ledger>
  let state = Monitor(PartState())
  /// The writer's; a lock only because the compiler cannot see that there is one writer.
  let streams = Monitor(ChunkStreams())

  /// What only the committer looks at.
  struct Ledger {
    var manifest: ManifestFile?
    /// What was found by opening, until a generation begins.
    var resume: ResumeState?
    /// The identity that a manifest is created with.
    var header: ManifestHeader?
    /// Flags that outlive a commit.
    var flags: ManifestSlot.Flags = []
    /// Set by the first failed sync, for good.
    var poison: DiskError?
    /// In this run; a former one's are not taken for granted.
    var dataSyncedOnce = false
    var directorySynced = false
    var cache = CacheTrail()
    var finished = false
    var closed = false
  }

  init(
    target: Target, syncs: Bool, disk: any DiskOperations, directory: DiskFile, part: LockedPart,
    loaded: LoadedManifest?, notice: String?
  ) {
    self.target = target
    self.syncs = syncs
    self.notice = notice
    self.disk = disk
    self.directory = directory
    data = part.file
    identity = part.status
    var ledger = Ledger()
    ledger.manifest = loaded?.manifest
    ledger.resume = loaded?.resume
    self.ledger = Monitor(ledger)
  }

  deinit { close() }

  /// What a former run left, or nil. Whether it is the same generation is for the caller to decide.
  package var resume: ResumeState? { ledger.withLock { $0.resume } }

  /// Why what is called durable here may not be; nil without syncs, which promise nothing.
  package var syncDoubt: SyncDoubt? { syncs ? disk.syncDoubt(directory) : nil }

  /// A look at the state. Any thread.
  package func snapshot() -> PartSnapshot {
    state.withLock {
      PartSnapshot(
        writtenBytes: $0.written.count, frontier: $0.frontier, durableBytes: $0.durableBytes,
        writtenChunks: $0.chunks.setCount, generation: $0.generation, hasManifest: $0.sumPlace != nil)
    }
  }

  /// Gives up the lock and all descriptors; a second call does nothing. [committer, when no write, read or
  /// commit is under way]
  ///
  /// - Returns: what closing the data file said. It matters only without syncs (a network filesystem may
  ///   report a lost write there); after a sync there is nothing left that it could concern.
  @discardableResult
  package func close() -> DiskError? {
    ledger.withLock { ledger -> DiskError? in
      guard !ledger.closed else { return nil }
      ledger.closed = true
      if let manifest = ledger.manifest { try? disk.close(manifest.file) }
      var failure: DiskError?
      do throws(DiskError) { try disk.close(data) } catch { failure = error }
      try? disk.close(directory)
      return failure
    }
  }

  /// Refuses to go on where a sync has failed: what is on disk is then unknown to this process.
  func insistHealthy(_ ledger: Ledger, _ operation: String) throws(DiskError) {
    guard !ledger.closed else {
      throw DiskError(operation, data.path, code: 0, kind: .incomplete, detail: "it is closed")
    }
    guard let poison = ledger.poison else { return }
    throw DiskError(operation, data.path, code: poison.code, kind: .poisoned)
  }

  /// Runs a sync, or nothing with `--no-sync`. A failure poisons: the kernel has marked the pages clean, so a
  /// second sync would succeed without having written them.
  func sync(
    _ ledger: inout Ledger, _ body: () throws(DiskError) -> Void
  ) throws(DiskError) {
    guard syncs else { return }
    do {
      try body()
    } catch {
      ledger.poison = error
      throw error
    }
  }
}

/// How far a part file is, at one moment. All counts in bytes unless named otherwise.
package struct PartSnapshot: Equatable, Sendable {
  package let writtenBytes: Int
  /// The end of the contiguous prefix that is written.
  package let frontier: Int
  /// What the last slot on stable storage promises; 0 for unknown lengths and without syncs.
  package let durableBytes: Int
  /// The number of chunks with every byte written.
  package let writtenChunks: Int
  /// Counts the clears; buffers of an older one are dropped.
  package let generation: Int
  /// Whether there is a manifest by which another run can go on.
  package let hasManifest: Bool

  package init(
    writtenBytes: Int = 0, frontier: Int = 0, durableBytes: Int = 0, writtenChunks: Int = 0,
    generation: Int = 0, hasManifest: Bool = false
  ) {
    self.writtenBytes = writtenBytes
    self.frontier = frontier
    self.durableBytes = durableBytes
    self.writtenChunks = writtenChunks
    self.generation = generation
    self.hasManifest = hasManifest
  }
}

/// What a manifest of a former run offers.
package struct ResumeState: Equatable, Sendable {
  package let header: ManifestHeader
  /// The chunks that are durable by the newest slot, have a sum, and lie inside the data file.
  package let marked: ChunkBitmap
  /// Chunks that no slot vouches for but that have a sum: their content may prove them. Ascending.
  package let rescuable: [Int]
  /// Prefixes of unfinished chunks, read and found equal to their sums.
  package let prefixes: [ManifestSlot.WrittenPrefix]
  package let flags: ManifestSlot.Flags
  /// One a chunk, 0 = none.
  package let storedSums: [UInt64]

  package init(
    header: ManifestHeader, marked: ChunkBitmap, rescuable: [Int], prefixes: [ManifestSlot.WrittenPrefix],
    flags: ManifestSlot.Flags, storedSums: [UInt64]
  ) {
    (self.header, self.marked, self.rescuable) = (header, marked, rescuable)
    (self.prefixes, self.flags, self.storedSums) = (prefixes, flags, storedSums)
  }
}
