// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulPlatform

extension PartFile {
  /// Ends the generation: nothing that was written counts any more, in no readable state. [committer, after
  /// the leases have stopped and a barrier has passed the writer]
  ///
  /// - Parameter mismatch: false for a changed resource: manifest and bytes go, and a new
  ///   ``begin(grid:header:adopt:)`` with a new id must follow. True for a file without its digest: bits and
  ///   sums are cleared in place and both slots carry the flag (a manifest is made where there was none); the
  ///   bytes stay until they are overwritten, and writing goes on with the same header and the next
  ///   generation.
  package func clear(mismatch: Bool) throws(DiskError) {
    try ledger.withLock { (ledger) throws(DiskError) in
      try insistHealthy(ledger, "clear")
      // First of all, so that a buffer which slipped past the barrier is dropped and not accounted for.
      state.signal { state in
        state.generation += 1
        state.forget()
        state.length = state.grid?.length
        state.cancelled = false
        if !mismatch { state.begun = false }
      }
      ledger.cache = CacheTrail()
      if mismatch { return try flagMismatch(&ledger) }
      try discard(&ledger)
      ledger.header = nil
      ledger.flags = []
    }
  }

  private func flagMismatch(_ ledger: inout Ledger) throws(DiskError) {
    guard let header = ledger.header else { return }
    ledger.flags.insert(.mismatch)
    if ledger.manifest == nil { try createManifest(&ledger, header) }
    if let manifest = ledger.manifest {
      try poisoning(&ledger) { () throws(DiskError) in try manifest.eraseAll(disk) }
    }
    try writeBothSlots(&ledger, ChunkBitmap(count: header.grid.count))
    try syncDirectoryOnce(&ledger)
  }

  /// Removes part and manifest, while the lock is held: for downloads that have nothing worth keeping.
  /// [committer, no write under way; only ``close()`` may follow]
  package func remove() throws(DiskError) {
    try ledger.withLock { (ledger) throws(DiskError) in
      guard !ledger.finished else { return }
      ledger.finished = true
      if let manifest = ledger.manifest {
        try disk.unlink(target.manifestName, in: directory, ifStill: manifest.identity)
        if syncs { try disk.syncDirectory(directory) }
      }
      try disk.unlink(target.partName, in: directory, ifStill: identity)
    }
  }
}
