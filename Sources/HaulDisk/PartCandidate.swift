// SPDX-License-Identifier: Apache-2.0

package import HaulCore
private import Synchronization

/// A partial file of another program that may become the part of a target. It is held under its lock, and nothing of
/// it is changed before ``take(_:syncs:)``. One thread at a time.
package final class PartCandidate: Sendable {
  package let target: Target
  /// The file's present name, in the target's directory.
  package let name: String

  private let disk: any DiskOperations
  private let directory: DiskFile
  private let file: DiskFile
  private let status: FileStatus
  private let isClosed = Atomic(false)

  /// Opens and locks the file.
  ///
  /// - Throws: `.exists` where a name of the target is taken by anything but the file itself and a manifest of ours
  ///   without a part, `.foreign` where the file is a link, has a second name, or is not the user's own, `.busy`
  ///   where another Haul works on it.
  package init(
    _ name: String, for target: Target, disk: any DiskOperations = SystemDisk()
  ) throws(DiskError) {
    (self.target, self.name, self.disk) = (target, name, disk)
    directory = try disk.openDirectory(target.directory)
    do throws(DiskError) {
      file = try disk.openExisting(name, in: directory)
    } catch {
      try? disk.close(directory)
      throw error
    }
    do throws(DiskError) {
      status = try Self.insistOwn(file, name, in: directory, disk)
      try insistFreeNames()
    } catch {
      try? disk.close(file)
      try? disk.close(directory)
      throw error
    }
  }

  deinit { close() }

  /// Gives up the lock. A second call does nothing.
  package func close() {
    guard !isClosed.exchange(true, ordering: .relaxed) else { return }
    try? disk.close(file)
    try? disk.close(directory)
  }

  /// In bytes.
  package var size: Int { status.size }

  private static func insistOwn(
    _ file: DiskFile, _ name: String, in directory: DiskFile, _ disk: any DiskOperations
  ) throws(DiskError) -> FileStatus {
    let status = try disk.status(of: file)
    var problem: String?
    if !status.isRegular { problem = "it is not a regular file" }
    if status.owner != disk.effectiveUser { problem = problem ?? "it belongs to another user" }
    if status.links != 1 { problem = problem ?? "it has a second name (hard link)" }
    if let problem { throw DiskError("take over", file.path, code: 0, kind: .foreign, detail: problem) }
    guard try disk.tryLock(file) else {
      throw DiskError(
        "lock", file.path, code: 0, kind: .busy(holderProcess: disk.lockHolder(of: status)))
    }
    return status
  }

  private func insistFreeNames() throws(DiskError) {
    for taken in [target.name, target.partName] where taken != name {
      guard try disk.status(at: taken, in: directory) != nil else { continue }
      throw DiskError(
        "take over", file.path, code: 0, kind: .exists,
        detail: "\(directory.path(of: taken)) is there already")
    }
    _ = try orphan()
  }

  /// The manifest of ours that an interrupted ``take(_:syncs:)`` has left: without a part it vouches for nothing.
  private func orphan() throws(DiskError) -> FileStatus? {
    let path = directory.path(of: target.manifestName)
    guard let found = try disk.status(at: target.manifestName, in: directory) else { return nil }
    let taken = DiskError(
      "take over", self.file.path, code: 0, kind: .exists, detail: "\(path) is there already")
    guard found.isRegular, found.owner == disk.effectiveUser, found.links == 1 else { throw taken }
    let file = try disk.openToRead(target.manifestName, in: directory)
    defer { try? disk.close(file) }
    let pages = try disk.readBytes(ManifestLayout.headerSize, from: file, at: 0)
    if (try? ManifestState.header(in: pages, codec: .xxh3)) != nil { return found }
    // Stopped before its first byte was written.
    guard try ManifestFile.isBlank(file, found, disk) else { throw taken }
    return found
  }

  /// What of a candidate may be believed, if it is equal where it is compared.
  package struct Survey: Equatable, Sendable {
    /// One a chunk, 0 where the chunk is not believed.
    package let sums: [UInt64]
    package let believed: ChunkBitmap
  }

  /// Reads the file once and sums its chunks. A chunk with a page of nothing but zeros is not believed: it may be room
  /// that was set aside, at the end or before the next piece of a program that fetches several at once. Nor is the last
  /// MiB before the end of the content, which a crash may have left in any state.
  ///
  /// - Parameter goesOn: asked before each chunk; false ends the reading.
  /// - Returns: nil where it was ended.
  package func survey(
    _ grid: ChunkGrid, id: ManifestID, _ goesOn: () -> Bool
  ) throws(DiskError) -> Survey? {
    var sums = [UInt64](repeating: ChunkSum.none, count: grid.count)
    var believed = ChunkBitmap(count: grid.count)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
    defer { buffer.deallocate() }
    var end = 0
    for chunk in 0..<grid.count where grid.range(of: chunk).lower < status.size {
      guard goesOn() else { return nil }
      let found = try sum(of: grid.range(of: chunk), seed: id.seed(forChunk: chunk), buffer)
      end = found.contentEnd ?? end
      guard found.isWhole, !found.hasBlankPage else { continue }
      sums[chunk] = ChunkSum.normalised(found.sum)
      believed[chunk] = true
    }
    for chunk in 0..<grid.count where believed[chunk] && grid.range(of: chunk).upper > end - Self.droppedTail
    {
      sums[chunk] = ChunkSum.none
      believed[chunk] = false
    }
    return Survey(sums: sums, believed: believed)
  }

  package static let droppedTail = 1 << 20

  /// - Returns: `contentEnd`: the end of the last piece of a page that is not all zeros; nil where there is none.
  ///   `hasBlankPage`: whether any is all zeros.
  private func sum(
    of range: ByteRange, seed: UInt64, _ buffer: UnsafeMutableRawBufferPointer
  ) throws(DiskError) -> (sum: UInt64, isWhole: Bool, contentEnd: Int?, hasBlankPage: Bool) {
    let hash = ChunkHash()
    hash.start(seed: seed)
    var offset = range.lower
    var contentEnd: Int?
    var hasBlankPage = false
    while offset < range.upper {
      let wanted = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(range.upper - offset))
      let count = try disk.readFully(into: wanted, from: file, at: offset)
      let piece = UnsafeRawBufferPointer(rebasing: buffer.prefix(count))
      hash.add(piece)
      if let end = Self.contentEnd(piece) { contentEnd = offset + end }
      hasBlankPage = hasBlankPage || Self.hasBlankPage(piece)
      offset += count
      if count < wanted.count { return (hash.value, false, contentEnd, hasBlankPage) }
    }
    return (hash.value, true, contentEnd, hasBlankPage)
  }

  private static func hasBlankPage(_ bytes: UnsafeRawBufferPointer) -> Bool {
    stride(from: 0, to: bytes.count, by: 4096).contains { start in
      !bytes[start..<min(start + 4096, bytes.count)].contains { $0 != 0 }
    }
  }

  /// The end of the last page that is not all zeros.
  private static func contentEnd(_ bytes: UnsafeRawBufferPointer) -> Int? {
    var end = bytes.count
    while end > 0 {
      let start = (end - 1) / 4096 * 4096
      if UnsafeRawBufferPointer(rebasing: bytes[start..<end]).contains(where: { $0 != 0 }) { return end }
      end = start
    }
    return nil
  }

  /// Makes the file the part of its target, with a manifest that holds the sums and marks nothing: each chunk is read
  /// back and compared before it counts.
  ///
  /// The manifest is durable before the file gets the part's name, so that a stop anywhere leaves the file as it was,
  /// or a part that can be gone on from. Gives up the lock at its end.
  package func take(_ header: ManifestHeader, _ survey: Survey, syncs: Bool) throws(DiskError) {
    defer { close() }
    try insistUnchanged()
    try insistFreeNames()
    if let orphan = try orphan() {
      try disk.unlink(target.manifestName, in: directory, ifStill: orphan)
      if syncs { try disk.syncDirectory(directory) }
    }
    // A manifest that named the file itself would look like that of a finished one, should this stop before the
    // rename. The resume fills in what it finds.
    let manifest = try ManifestFile.create(target.manifestName, in: directory, header: header, disk: disk)
    defer { try? disk.close(manifest.file) }
    do throws(DiskError) {
      try manifest.store(survey.sums, disk)
      if syncs {
        try disk.syncFile(manifest.file)
        try disk.syncDirectory(directory)
      }
      // A part that others may write to is not believed.
      if status.mode & 0o022 != 0 { try? disk.setMode(file, status.mode & ~0o022) }
      try rename()
    } catch {
      try? disk.unlink(target.manifestName, in: directory, ifStill: manifest.identity)
      throw error
    }
    if syncs { try disk.syncDirectory(directory) }
  }

  /// Whoever began the file may still be writing to it.
  private func insistUnchanged() throws(DiskError) {
    let now = try disk.status(of: file)
    guard let named = try disk.status(at: name, in: directory), named.isSameFile(as: status),
      now.size == status.size, now.modified == status.modified, now.links == 1
    else {
      throw DiskError(
        "take over", file.path, code: 0, kind: .foreign,
        detail: "it has changed meanwhile; stop the program that writes to it")
    }
  }

  private func rename() throws(DiskError) {
    do throws(DiskError) {
      return try disk.renameNoReplace(name, to: target.partName, in: directory)
    } catch {
      guard error.kind == .unsupported else { throw error }
    }
    // The names were looked at a moment ago; nothing better is to be had here.
    try disk.rename(name, to: target.partName, in: directory)
  }
}
