// SPDX-License-Identifier: Apache-2.0

internal import HaulCore

/// A manifest that can be built upon, and what it offers.
struct LoadedManifest {
  let manifest: ManifestFile
  let resume: ResumeState
}

extension ManifestFile {
  enum Found {
    case none
    case usable(LoadedManifest)
    /// Ours, but nothing can be learned from it.
    case useless(String, FileStatus)
  }

  /// Reads the sidecar of a locked part file.
  /// - Throws: `.foreign` for a sidecar that is not ours to change.
  static func load(_ opener: PartOpener, _ part: LockedPart) throws(DiskError) -> Found {
    let file: DiskFile
    do {
      file = try opener.disk.openExisting(opener.target.manifestName, in: opener.directory)
    } catch {
      if error.kind == .missing { return .none }
      throw error
    }
    do {
      let found = try read(file, part, opener.disk)
      if case .usable = found { return found }
      try? opener.disk.close(file)
      return found
    } catch {
      try? opener.disk.close(file)
      throw error
    }
  }

  private static func read(
    _ file: DiskFile, _ part: LockedPart, _ disk: any DiskOperations
  ) throws(DiskError) -> Found {
    let status = try insistOurs(file, part, disk)
    let pages = try disk.readBytes(ManifestLayout.headerSize, from: file, at: 0)
    let header: ManifestHeader
    do {
      header = try ManifestState.header(in: pages, codec: .xxh3)
    } catch {
      switch error {
      case .damaged: return .useless("\(error)", status)
      case .notOurs where try isBlank(file, status, disk):
        return .useless("a manifest that was never written", status)
      case .notOurs, .newerVersion:
        throw DiskError("use", file.path, code: 0, kind: .foreign, detail: "it is \(error)")
      }
    }
    // A file that was cut off reads as blank slots and sums: they then count for nothing.
    let layout = ManifestLayout(header.grid)
    var slots: [[UInt8]] = []
    for offset in layout.slotOffsets {
      slots.append(try disk.readBytes(layout.slotSize, from: file, at: offset))
    }
    let state = ManifestState.choose(header: header, slots: slots, codec: .xxh3)
    let sums = try readSums(file, layout, disk)
    let resume = try ResumeState.judge(state, sums: sums, part: part, disk)
    var committed = state.slot ?? ManifestSlot(sequence: 0, bitmap: resume.marked)
    committed.bitmap = resume.marked
    let manifest = ManifestFile(
      file: file, identity: status, header: header, committed: committed, position: state.position ?? 1,
      nextSequence: state.nextSequence, isConfirmed: state.slot?.bitmap == resume.marked)
    return .usable(LoadedManifest(manifest: manifest, resume: resume))
  }

  static func readSums(
    _ file: DiskFile, _ layout: ManifestLayout, _ disk: any DiskOperations
  ) throws(DiskError) -> [UInt64] {
    let bytes = try disk.readBytes(layout.sumsSize, from: file, at: layout.sumsOffset)
    var sums = [UInt64](repeating: ChunkSum.none, count: layout.chunkCount)
    for chunk in 0..<bytes.count / 8 {
      for index in 0..<8 { sums[chunk] |= UInt64(bytes[8 * chunk + index]) << UInt64(8 * index) }
    }
    return sums
  }

  /// A sidecar that others may have planted or written is refused before a byte of it is believed.
  private static func insistOurs(
    _ file: DiskFile, _ part: LockedPart, _ disk: any DiskOperations
  ) throws(DiskError) -> FileStatus {
    let status = try disk.status(of: file)
    var problem: String?
    if !status.isRegular { problem = "it is not a regular file" }
    if status.owner != disk.effectiveUser { problem = problem ?? "it belongs to another user" }
    if status.links != 1 { problem = problem ?? "it has a second name (hard link)" }
    if status.mode & 0o022 != 0, try modesHold(part, disk) {
      problem = problem ?? "others may write to it"
    }
    if let problem { throw DiskError("use", file.path, code: 0, kind: .foreign, detail: problem) }
    // What the manifest says is only as good as the bytes that it speaks of.
    if part.status.mode & 0o022 != 0, try modesHold(part, disk) {
      throw DiskError("use", part.file.path, code: 0, kind: .foreign, detail: "others may write to it")
    }
    return status
  }

  /// Whether this filesystem keeps modes: ours are created with 0600, so a data file that cannot be given
  /// that lies on one (exFAT, some network filesystems) where the mode of the manifest says nothing either.
  private static func modesHold(_ part: LockedPart, _ disk: any DiskOperations) throws(DiskError) -> Bool {
    if part.status.mode & 0o077 == 0 { return true }
    try? disk.setMode(part.file, 0o600)
    let holds = try disk.status(of: part.file).mode & 0o077 == 0
    // As it was: the next run has to find what this one refuses.
    if holds { try? disk.setMode(part.file, part.status.mode) }
    return holds
  }

  /// Nothing but zeros of a size that we make: a process was killed between creating and writing it. Emptying
  /// such a file loses nothing, and refusing it would leave the target stuck.
  static func isBlank(
    _ file: DiskFile, _ status: FileStatus, _ disk: any DiskOperations
  ) throws(DiskError) -> Bool {
    let greatest = ManifestLayout(ChunkGrid(length: ChunkGrid.mostChunks * ChunkGrid.smallestChunk)).totalSize
    guard status.size <= greatest, status.size % ManifestLayout.pageSize == 0 else { return false }
    var offset = 0
    while offset < status.size {
      let piece = try disk.readBytes(min(1 << 20, status.size - offset), from: file, at: offset)
      guard !piece.isEmpty, piece.allSatisfy({ $0 == 0 }) else { return false }
      offset += piece.count
    }
    return true
  }
}

extension ResumeState {
  /// Weighs what a manifest says against the data file that is there.
  static func judge(
    _ state: ManifestState, sums: [UInt64], part: LockedPart, _ disk: any DiskOperations
  ) throws(DiskError) -> ResumeState {
    let grid = state.header.grid
    let sameFile = state.header.device == part.status.device && state.header.inode == part.status.inode
    let account = state.account(sums: sums, isSameFile: sameFile, size: part.status.size)
    var prefixes: [ManifestSlot.WrittenPrefix] = []
    for prefix in account.prefixes {
      let start = grid.range(of: prefix.chunk).lower
      let seed = state.header.id.seed(forChunk: prefix.chunk)
      let range = ByteRange(start, start + prefix.length)
      if try disk.sum(of: range, in: part.file, seed: seed) == prefix.sum { prefixes.append(prefix) }
    }
    return ResumeState(
      header: state.header, marked: account.marked, rescuable: account.provable, prefixes: prefixes,
      flags: state.flags, storedSums: sums)
  }
}

extension DiskOperations {
  /// The normalised sum of a range as it reads from the file; nil where the file ends inside of it.
  func sum(of range: ByteRange, in file: DiskFile, seed: UInt64) throws(DiskError) -> UInt64? {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: min(range.count, 1 << 20), alignment: 64)
    defer { buffer.deallocate() }
    let hash = ChunkHash()
    hash.start(seed: seed)
    var offset = range.lower
    while offset < range.upper {
      let piece = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(range.upper - offset))
      let count = try readFully(into: piece, from: file, at: offset)
      guard count == piece.count else { return nil }
      hash.add(UnsafeRawBufferPointer(piece))
      offset += count
    }
    return ChunkSum.normalised(hash.value)
  }
}
