// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulPlatform

/// Why a commit is made.
package enum CommitKind: Sendable {
  /// Whole chunks only. Nothing is done where there is nothing new.
  case periodic
  /// The program stops in order: also the written prefixes of unfinished chunks.
  case stop
}

/// What a commit made durable.
package struct CommitResult: Equatable, Sendable {
  /// All bytes that are durable now; 0 without syncs or a manifest.
  package let durableBytes: Int
  /// False where there was nothing new.
  package let wrote: Bool
}

extension PartFile {
  /// What one commit is about: taken before the data is synced, so that nothing written later can get in.
  private struct Batch {
    let chunks: ChunkBitmap
    let written: ByteRangeSet
    let wholeBytes: Int
  }

  /// Makes durable what is written: data first, then the slot that says so. [committer]
  ///
  /// - Throws: the failed operation. A failed sync, or a failed write into the manifest, poisons this part
  ///   file: every later commit, clear or finish throws `.poisoned`, and the last good slot stays as it is.
  package func commit(_ kind: CommitKind) throws(DiskError) -> CommitResult {
    try ledger.withLock { (ledger) throws(DiskError) in
      try insistHealthy(ledger, "commit")
      guard let header = ledger.header, !ledger.finished else { return unchanged() }
      if ledger.manifest == nil {
        guard state.withLock({ !$0.written.isEmpty }) else { return unchanged() }
        try createManifest(&ledger, header)
      }
      let batch = freeze()
      if kind == .periodic, let manifest = ledger.manifest, manifest.isConfirmed,
        manifest.committed.bitmap == batch.chunks
      {
        return unchanged()
      }
      let prefixes = kind == .stop ? try self.prefixes(of: batch, header) : []
      try syncData(&ledger)
      try writeSlot(&ledger, batch.chunks, prefixes, stop: kind == .stop)
      try syncDirectoryOnce(&ledger)
      releaseCache(&ledger, batch)
      return publish(batch, prefixes)
    }
  }

  private func unchanged() -> CommitResult {
    CommitResult(durableBytes: state.withLock { $0.durableBytes }, wrote: false)
  }

  private func freeze() -> Batch {
    state.withLock {
      Batch(chunks: $0.chunks, written: $0.written, wholeBytes: $0.bytes(of: $0.chunks))
    }
  }

  /// Creates the manifest with every sum so far, before the first sync of the data, which may take seconds:
  /// from here on a kill loses only chunks that were not complete.
  func createManifest(_ ledger: inout Ledger, _ header: ManifestHeader) throws(DiskError) {
    let manifest: ManifestFile
    do throws(DiskError) {
      manifest = try ManifestFile.create(target.manifestName, in: directory, header: header, disk: disk)
    } catch {
      guard error.kind == .exists else { throw error }
      throw DiskError(
        "create", error.path, code: error.code, kind: .foreign, detail: "a file of that name has appeared")
    }
    ledger.manifest = manifest
    ledger.directorySynced = false
    // From this moment on the writer stores its sums itself; what it had before is in the copy.
    let sums = state.withLock { state in
      state.sumPlace = manifest.sumPlace
      return state.sums
    }
    try poisoning(&ledger) { () throws(DiskError) in try manifest.store(sums, disk) }
  }

  /// Makes the names of part and manifest durable, once after they came to be.
  func syncDirectoryOnce(_ ledger: inout Ledger) throws(DiskError) {
    guard !ledger.directorySynced else { return }
    try sync(&ledger) { () throws(DiskError) in try disk.syncDirectory(directory) }
    ledger.directorySynced = true
  }

  private func syncData(_ ledger: inout Ledger) throws(DiskError) {
    let full = !ledger.dataSyncedOnce
    try sync(&ledger) { () throws(DiskError) in
      // The first time the file's length and place have to be durable too.
      if full { try disk.syncFile(data) } else { try disk.syncData(data) }
    }
    ledger.dataSyncedOnce = true
  }

  private func writeSlot(
    _ ledger: inout Ledger, _ bitmap: ChunkBitmap, _ prefixes: [ManifestSlot.WrittenPrefix], stop: Bool
  ) throws(DiskError) {
    guard var manifest = ledger.manifest else { return }
    let flags = ledgerFlags(stop ? ledger.flags.union(.cleanStop) : ledger.flags)
    try poisoning(&ledger) { () throws(DiskError) in
      try manifest.write(flags: flags, prefixes: prefixes, bitmap: bitmap, disk)
    }
    try sync(&ledger) { () throws(DiskError) in try disk.syncData(manifest.file) }
    manifest.isConfirmed = true
    ledger.manifest = manifest
  }

  /// Writes the present state into both slots, so that no readable one says more. Used wherever bits are
  /// taken back.
  func writeBothSlots(_ ledger: inout Ledger, _ bitmap: ChunkBitmap) throws(DiskError) {
    for _ in 0..<2 { try writeSlot(&ledger, bitmap, [], stop: false) }
  }

  /// Runs a change of the manifest. Half done it is unknown to this process, so a failure poisons as a
  /// sync's.
  func poisoning(_ ledger: inout Ledger, _ body: () throws(DiskError) -> Void) throws(DiskError) {
    do throws(DiskError) {
      try body()
    } catch {
      ledger.poison = error
      throw error
    }
  }

  /// The beginnings of chunks that are written but not complete, with sums read from the file.
  private func prefixes(
    of batch: Batch, _ header: ManifestHeader
  ) throws(DiskError) -> [ManifestSlot.WrittenPrefix] {
    let grid = header.grid
    var result: [ManifestSlot.WrittenPrefix] = []
    for range in batch.written.ranges where result.count < ManifestSlot.mostPrefixes {
      guard range.upper < grid.length else { break }
      let chunk = grid.index(at: range.upper)
      let start = grid.range(of: chunk).lower
      guard range.lower <= start, start < range.upper else { continue }
      let prefix = ByteRange(start, range.upper)
      guard let sum = try disk.sum(of: prefix, in: data, seed: header.id.seed(forChunk: chunk)) else {
        continue
      }
      result.append(ManifestSlot.WrittenPrefix(chunk: chunk, length: prefix.count, sum: sum))
    }
    return result
  }

  /// Lets go of the pages that were committed and hashed, where the file is too long to stay in memory as a
  /// whole. It would push out what others need, and fresh pages cost more than those that were just used.
  private func releaseCache(_ ledger: inout Ledger, _ batch: Batch) {
    guard let length = ledger.header?.grid.length, length > disk.longestCached else { return }
    let end = batch.written.end(ofRunAt: 0)
    let done = state.withLock { min(end, $0.readBack ?? end) }
    // Only a hint: a filesystem that cannot do it keeps its pages.
    if let range = ledger.cache.release(upTo: done, synced: syncs) { try? disk.dropCache(data, range) }
  }

  private func publish(_ batch: Batch, _ prefixes: [ManifestSlot.WrittenPrefix]) -> CommitResult {
    let durable = syncs ? batch.wholeBytes + prefixes.reduce(0) { $0 + $1.length } : 0
    state.signal { $0.durableBytes = durable }
    return CommitResult(durableBytes: durable, wrote: true)
  }
}
