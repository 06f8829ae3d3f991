// SPDX-License-Identifier: Apache-2.0

package import HaulCore
internal import HaulPlatform

extension PartFile {
  /// Starts accounting for one generation. [committer, before the first write of that generation]
  ///
  /// - Parameters:
  ///   - grid: nil for an unknown length: then there is no manifest, and no sums. Ignored when adopting.
  ///   - header: what a manifest will say; its device and inode are filled in here. Nil: no manifest will be
  ///     made, sums live in memory only. When adopting only its expected digest counts.
  ///   - adopt: build on ``resume``. False: whatever is there is thrown away durably.
  /// - Throws: `.incomplete` where there is nothing to adopt; errors of the files.
  package func begin(grid: ChunkGrid?, header: ManifestHeader?, adopt: Bool) throws(DiskError) {
    if adopt { return try adoptResume(header) }
    try ledger.withLock { (ledger) throws(DiskError) in
      try insistHealthy(ledger, "begin")
      try discard(&ledger)
      var header = grid == nil ? nil : header
      header?.device = identity.device
      header?.inode = identity.inode
      ledger.header = header
      ledger.flags = []
      let id = header?.id ?? ManifestID(high: 0, low: 0)
      state.signal { $0.begin(grid: header?.grid ?? grid, id: id) }
    }
  }

  /// Throws away what is there, so that no crash can bring a part of it back: the manifest is removed and the
  /// directory synced before the data file is emptied. The lock stays.
  func discard(_ ledger: inout Ledger) throws(DiskError) {
    if let manifest = ledger.manifest {
      try disk.unlink(target.manifestName, in: directory, ifStill: manifest.identity)
      if syncs { try disk.syncDirectory(directory) }
      state.withLock { $0.sumPlace = nil }
      try? disk.close(manifest.file)
      ledger.manifest = nil
    }
    ledger.resume = nil
    if try disk.status(of: data).size > 0 { try disk.truncate(data, length: 0) }
  }

  private func adoptResume(_ wanted: ManifestHeader?) throws(DiskError) {
    try ledger.withLock { (ledger) throws(DiskError) in
      try insistHealthy(ledger, "resume")
      guard let resume = ledger.resume, let manifest = ledger.manifest else {
        throw DiskError("resume", data.path, code: 0, kind: .incomplete, detail: "there is nothing to resume")
      }
      ledger.flags = resume.flags.intersection(.mismatch)
      try makeAgree(&ledger, resume)
      try renewHeader(&ledger, wanted)
      // A killed process may have left its last slot in the page cache only; what is adopted is called
      // durable.
      try sync(&ledger) { () throws(DiskError) in try disk.syncData(manifest.file) }
      try syncDirectoryOnce(&ledger)
      ledger.header = ledger.manifest?.header
      ledger.resume = nil
      state.signal { $0.adopt(resume, sumPlace: manifest.sumPlace) }
    }
  }

  /// Where the manifest promises more than was found, the promise is taken back durably before the first
  /// write: the data file will soon have its full length again, and a stale bit would then vouch for zeros.
  private func makeAgree(_ ledger: inout Ledger, _ resume: ResumeState) throws(DiskError) {
    guard let manifest = ledger.manifest else { return }
    let sameFile = resume.header.device == identity.device && resume.header.inode == identity.inode
    guard !manifest.isConfirmed || !sameFile || resume.flags.contains(.notSynced) else { return }
    // A manifest that was cut off gets its whole size back, and with it the room for every later commit.
    if try disk.status(of: manifest.file).size < manifest.layout.totalSize {
      try disk.truncate(manifest.file, length: manifest.layout.totalSize)
    }
    try writeBothSlots(&ledger, resume.marked)
  }

  /// Brings the header up to date where the data file, the digest or the source is another one than it says.
  private func renewHeader(
    _ ledger: inout Ledger, _ wanted: ManifestHeader?
  ) throws(DiskError) {
    guard var header = ledger.manifest?.header else { return }
    header.device = identity.device
    header.inode = identity.inode
    if let wanted { header.renew(from: wanted) }
    guard header != ledger.manifest?.header else { return }
    ledger.manifest?.header = header
    // One copy at a time, so that a torn one leaves the other.
    for offset in ManifestLayout.headerOffsets {
      guard let manifest = ledger.manifest else { return }
      try poisoning(&ledger) { () throws(DiskError) in try manifest.writeHeader(at: offset, disk) }
      try sync(&ledger) { () throws(DiskError) in try disk.syncData(manifest.file) }
    }
  }

  /// The flags of a slot that is written now.
  func ledgerFlags(_ kept: ManifestSlot.Flags) -> ManifestSlot.Flags { syncs ? kept : kept.union(.notSynced) }

  /// Sets aside room for the whole file, so that a full disk shows before the download runs. Nothing to do
  /// for an unknown length. [committer, after begin]
  ///
  /// Where the filesystem cannot set room aside, the file gets its length as a hole; a full disk then shows
  /// later.
  /// - Throws: `.noSpace` without having taken any.
  package func reserve() throws(DiskError) {
    guard let length = state.withLock({ $0.grid?.length }) else { return }
    let status = try disk.status(of: data)
    // Somebody made it longer: what is past the end must not be in the finished file.
    if status.size > length { try disk.truncate(data, length: length) }
    var needed = length - min(status.allocated, length)
    if let grid = state.withLock({ $0.grid }), ledger.withLock({ $0.manifest == nil }) {
      needed += ManifestLayout(grid).totalSize
    }
    let free = try disk.freeSpace(directory)
    guard needed <= free else {
      throw DiskError(
        "reserve room for", data.path, code: 0, kind: .noSpace,
        detail: "\(ByteCountText.decimal(needed)) are needed, \(ByteCountText.decimal(free)) are free")
    }
    do throws(DiskError) {
      try disk.preallocate(data, length: length)
    } catch {
      guard error.kind == .unsupported else {
        // What was set aside before the disk was full is given back.
        if status.size < length { try? disk.truncate(data, length: status.size) }
        throw error
      }
      if status.size < length { try disk.truncate(data, length: length) }
    }
  }
}

extension PartState {
  mutating func adopt(_ resume: ResumeState, sumPlace: SumPlace) {
    let grid = resume.header.grid
    begin(grid: grid, id: resume.header.id)
    sums = resume.storedSums
    chunks = resume.marked
    for run in resume.marked.runs(of: true) {
      written.insert(
        ByteRange(grid.range(of: run.lowerBound).lower, grid.range(of: run.upperBound - 1).upper))
    }
    durableBytes = written.count
    for prefix in resume.prefixes {
      let start = grid.range(of: prefix.chunk).lower
      written.insert(ByteRange(start, start + prefix.length))
      durableBytes += prefix.length
    }
    self.sumPlace = sumPlace
    _ = moveFrontier()
  }
}
