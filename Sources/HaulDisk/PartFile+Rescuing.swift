// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulPlatform

extension PartFile {
  /// Takes back the promise for some chunks, durably, before a byte of them may be fetched again: sums and
  /// bits, in both slots. They are missing afterwards, and the frontier may have moved back. [committer]
  package func distrust(_ chunks: [Int]) throws(DiskError) {
    try ledger.withLock { (ledger) throws(DiskError) in
      try insistHealthy(ledger, "distrust a part of")
      let count = state.withLock { $0.chunks.count }
      let bad = chunks.filter { (0..<count).contains($0) }
      guard !bad.isEmpty else { return }
      var durable: ChunkBitmap?
      if let manifest = ledger.manifest {
        var bitmap = manifest.committed.bitmap
        for chunk in bad { bitmap[chunk] = false }
        try poisoning(&ledger) { () throws(DiskError) in try manifest.erase(bad, disk) }
        try writeBothSlots(&ledger, bitmap)
        durable = bitmap
      }
      state.signal { state in
        state.distrust(bad)
        if let durable, syncs { state.durableBytes = state.bytes(of: durable) }
      }
    }
  }

  /// Brings what the page cache holds to the disk and forgets it, so that ``proveRescuable(_:)`` reads the
  /// disk and not the memory of a write-back that failed. [committer, after begin, before proving]
  package func prepareRescue() throws(DiskError) {
    try ledger.withLock { (ledger) throws(DiskError) in
      try insistHealthy(ledger, "rescue a part of")
      try sync(&ledger) { () throws(DiskError) in try disk.syncFile(data) }
      ledger.dataSyncedOnce = syncs
      try disk.dropCache(data, nil)
    }
  }

  /// Reads a chunk and compares it with its stored sum. [committer or digest, after ``prepareRescue()``]
  package func proveRescuable(_ chunk: Int) throws(DiskError) -> Bool {
    let (grid, expected, id) = state.withLock { state in
      (state.grid, state.sums.indices.contains(chunk) ? state.sums[chunk] : ChunkSum.none, state.id)
    }
    guard let grid, expected != ChunkSum.none else { return false }
    return try disk.sum(of: grid.range(of: chunk), in: data, seed: id.seed(forChunk: chunk)) == expected
  }

  /// Counts proven chunks as written; the next commit makes them durable. [committer or digest]
  package func confirmRescued(_ chunks: [Int]) {
    state.signal { state in state.markProven(chunks.filter(state.sums.indices.contains)) }
  }
}

extension PartFile {
  /// Counts the whole file as written: it was read back after ``prepareRescue()`` and has its digest. Nothing of
  /// that is stored, only ``finish(mode:modified:overwrite:)`` may follow. [committer]
  package func adoptProven() throws(DiskError) {
    try ledger.withLock { (ledger) throws(DiskError) in
      try insistHealthy(ledger, "finish")
      guard let resume = ledger.resume else {
        throw DiskError("finish", data.path, code: 0, kind: .incomplete, detail: "there is nothing to adopt")
      }
      let grid = resume.header.grid
      ledger.resume = nil
      state.signal { state in
        state.begin(grid: grid, id: resume.header.id)
        state.written.insert(grid.whole)
        for chunk in 0..<grid.count { state.chunks[chunk] = true }
        _ = state.moveFrontier()
      }
    }
  }
}
