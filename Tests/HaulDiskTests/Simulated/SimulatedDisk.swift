// SPDX-License-Identifier: Apache-2.0

import HaulCore
import HaulPlatform
import TestSupport

@testable import HaulDisk

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A filesystem in memory with one directory, on which the production code runs unchanged. It keeps apart what the
/// programs see (the page cache) from what is on stable storage, and remembers every state a power loss could find.
final class SimulatedDisk: DiskOperations {
  struct State {
    var seen = VolumeImage()
    var log = VolumeLog()
    /// The log before each change and each sync, in order.
    var moments: [VolumeLog] = []
    var open: [Int32: Int] = [:]
    var locks: [Int: Int32] = [:]
    var nextDescriptor: Int32 = 100
    var nextInode = 1
    /// What the caller is about, for ``SyncPoint``.
    var phase = ""
    var syncsInPhase = 0
    var points: [String] = []
    /// The one place whose sync is left out: it says that it was done, and nothing was.
    var omitted: String?
    var omittedAt: [Int] = []
    var remembers = true
    /// The process is killed before so many syncs; nil where it lives.
    var syncsToLive: Int?
  }

  static let directory = DiskFile(descriptor: 99, path: "sim")
  let state = Monitor(State())
  /// Runs before each sync: what another thread may do at that moment.
  let meanwhile = Monitor<(@Sendable () -> Void)?>(nil)

  init(_ image: VolumeImage = VolumeImage(), omitting point: String? = nil, remembers: Bool = true) {
    state.withLock {
      $0.seen = image
      $0.log = VolumeLog(image)
      $0.nextInode = (image.files.keys.max() ?? 0) + 1
      $0.omitted = point
      $0.remembers = remembers
    }
  }

  /// The number of moments so far: a power loss at `moment` knows nothing of what came after.
  var now: Int { state.withLock { $0.moments.count } }

  func enter(_ phase: String) { state.withLock { ($0.phase, $0.syncsInPhase) = (phase, 0) } }

  private func change(_ change: VolumeChange) {
    state.withLock { state in
      if state.remembers { state.moments.append(state.log) }
      state.seen.apply(change)
      state.log.note(change)
    }
  }

  private func sync(_ inode: Int?, _ what: String) throws(DiskError) {
    let isKilled = state.withLock { state in
      state.syncsToLive = state.syncsToLive.map { $0 - 1 }
      return state.syncsToLive.map { $0 <= 0 } ?? false
    }
    if isKilled { throw DiskError("sync", what, code: EINTR) }
    if let meanwhile = meanwhile.withLock({ $0 }) { meanwhile() }
    state.withLock { state in
      state.syncsInPhase += 1
      let point = "\(state.phase) \(state.syncsInPhase): \(what)"
      if !state.points.contains(point) { state.points.append(point) }
      if state.remembers { state.moments.append(state.log) }
      if point == state.omitted { return state.omittedAt.append(state.moments.count) }
      state.log.sync(inode)
    }
  }

  private func inode(_ file: DiskFile) throws(DiskError) -> Int {
    guard let inode = state.withLock({ $0.open[file.descriptor] }) else {
      throw DiskError("use", file.path, code: EBADF)
    }
    return inode
  }

  private func opened(_ name: String, _ inode: Int) -> DiskFile {
    state.withLock { state in
      state.nextDescriptor += 1
      state.open[state.nextDescriptor] = inode
      return DiskFile(descriptor: state.nextDescriptor, path: name)
    }
  }

  // MARK: Names

  func openDirectory(_ path: String) throws(DiskError) -> DiskFile { Self.directory }
  func openExisting(_ name: String, in directory: DiskFile) throws(DiskError) -> DiskFile {
    guard let inode = state.withLock({ $0.seen.names[name] }) else {
      throw DiskError("open", name, code: ENOENT)
    }
    return opened(name, inode)
  }
  func openToRead(_ name: String, in directory: DiskFile) throws(DiskError) -> DiskFile {
    try openExisting(name, in: directory)
  }
  func names(in directory: DiskFile) throws(DiskError) -> [String] {
    state.withLock { Array($0.seen.names.keys) }
  }
  func createExclusively(_ name: String, in directory: DiskFile) throws(DiskError) -> DiskFile {
    let inode = try state.withLock { (state) throws(DiskError) in
      guard state.seen.names[name] == nil else { throw DiskError("create", name, code: EEXIST) }
      defer { state.nextInode += 1 }
      return state.nextInode
    }
    change(.name(name, inode: inode))
    return opened(name, inode)
  }
  func close(_ file: DiskFile) throws(DiskError) {
    state.withLock { state in
      state.open[file.descriptor] = nil
      state.locks = state.locks.filter { $0.value != file.descriptor }
    }
  }
  func renameNoReplace(_ name: String, to newName: String, in directory: DiskFile) throws(DiskError) {
    guard state.withLock({ $0.seen.names[newName] == nil }) else {
      throw DiskError("rename", name, code: EEXIST)
    }
    change(.rename(name, to: newName))
  }
  func rename(_ name: String, to newName: String, in directory: DiskFile) throws(DiskError) {
    change(.rename(name, to: newName))
  }
  func link(_ name: String, to newName: String, in directory: DiskFile) throws(DiskError) {
    guard let inode = state.withLock({ $0.seen.names[name] }) else {
      throw DiskError("link", name, code: ENOENT)
    }
    change(.name(newName, inode: inode))
  }
  func unlink(_ name: String, in directory: DiskFile) throws(DiskError) { change(.unname(name)) }

  // MARK: Bytes

  func write(_ bytes: UnsafeRawBufferPointer, to file: DiskFile, at offset: Int) throws(DiskError) -> Int {
    change(.write(inode: try inode(file), offset: offset, bytes: Array(bytes)))
    return bytes.count
  }
  func read(
    into buffer: UnsafeMutableRawBufferPointer, from file: DiskFile, at offset: Int
  ) throws(DiskError) -> Int {
    let inode = try inode(file)
    let content = state.withLock { $0.seen.files[inode] ?? [] }
    let count = max(0, min(buffer.count, content.count - offset))
    if count > 0 { buffer.copyBytes(from: content[offset..<offset + count]) }
    return count
  }
  func preallocate(_ file: DiskFile, length: Int) throws(DiskError) {
    let inode = try inode(file)
    guard state.withLock({ ($0.seen.files[inode]?.count ?? 0) < length }) else { return }
    change(.resize(inode: inode, length: length))
  }
  func truncate(_ file: DiskFile, length: Int) throws(DiskError) {
    change(.resize(inode: try inode(file), length: length))
  }
  func syncData(_ file: DiskFile) throws(DiskError) { try sync(try inode(file), kind(of: file)) }
  func syncFile(_ file: DiskFile) throws(DiskError) { try sync(try inode(file), kind(of: file)) }
  func syncDirectory(_ directory: DiskFile) throws(DiskError) { try sync(nil, "directory") }
  private func kind(of file: DiskFile) -> String { file.path.hasSuffix(".haul") ? "manifest" : "part" }

  // MARK: The rest

  func status(of file: DiskFile) throws(DiskError) -> FileStatus { status(ofInode: try inode(file)) }
  func status(at name: String, in directory: DiskFile) throws(DiskError) -> FileStatus? {
    state.withLock { $0.seen.names[name] }.map(status(ofInode:))
  }
  private func status(ofInode inode: Int) -> FileStatus {
    state.withLock { state in
      let size = state.seen.files[inode]?.count ?? 0
      return FileStatus(
        device: 1, inode: UInt64(inode), size: size, allocated: size,
        links: state.seen.names.values.count { $0 == inode }, owner: 0)
    }
  }
  func tryLock(_ file: DiskFile) throws(DiskError) -> Bool {
    let inode = try inode(file)
    return state.withLock { state in
      if let holder = state.locks[inode], holder != file.descriptor { return false }
      state.locks[inode] = file.descriptor
      return true
    }
  }
  func lockHolder(of status: FileStatus) -> Int32? { nil }
  func setMode(_ file: DiskFile, _ mode: UInt32) throws(DiskError) {}
  func setModified(_ file: DiskFile, _ seconds: Int) throws(DiskError) {}
  func dropCache(_ file: DiskFile, _ range: ByteRange?) throws(DiskError) {}
  func syncDoubt(_ directory: DiskFile) -> SyncDoubt? { nil }
  var longestCached: Int { .max }
  func freeSpace(_ directory: DiskFile) throws(DiskError) -> Int { 1 << 40 }
  var effectiveUser: UInt32 { 0 }
  func openStream(_ path: String) throws(DiskError) -> DiskFile {
    throw DiskError("open", path, code: ENOTSUP)
  }
  func append(_ bytes: UnsafeRawBufferPointer, to file: DiskFile) throws(DiskError) -> Int {
    throw DiskError("append to", file.path, code: ENOTSUP)
  }
}

extension SimulatedDisk {
  /// Inverts a byte of a file wherever it is: in memory, and on stable storage if it got there.
  func rot(_ name: String, at offset: Int) {
    state.withLock { state in
      guard let inode = state.seen.names[name], let byte = state.seen.files[inode]?[offset] else { return }
      let change = VolumeChange.write(inode: inode, offset: offset, bytes: [~byte])
      state.seen.apply(change)
      state.log.note(change)
      state.log.sync(inode)
    }
  }
}
