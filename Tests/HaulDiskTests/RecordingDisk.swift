// SPDX-License-Identifier: Apache-2.0

import HaulCore
import HaulDisk
import HaulPlatform

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The system's disk, with a log of every changing operation, and faults where a test wants them.
final class RecordingDisk: DiskOperations {
  struct Script {
    /// "operation name" in order; reads and looks are not logged.
    var log: [String] = []
    /// Asked before each operation with its log line; an errno value makes it fail.
    var fault: @Sendable (String) -> Int32? = { _ in nil }
    /// Run before each operation, after the fault was asked.
    var before: @Sendable (String) -> Void = { _ in }
    /// No write takes more bytes than this.
    var mostPerWrite = Int.max
    var longestCached = Int.max
    /// What the filesystem claims to have free.
    var free: Int?
  }

  let system = SystemDisk()
  let script = Monitor(Script())

  var log: [String] { script.withLock { $0.log } }
  func forgetLog() { script.withLock { $0.log = [] } }
  func fail(_ fault: @escaping @Sendable (String) -> Int32?) { script.withLock { $0.fault = fault } }
  /// Fails every operation whose log line begins with `prefix`.
  func fail(_ prefix: String, with code: Int32) { fail { $0.hasPrefix(prefix) ? code : nil } }
  func heal() { fail { _ in nil } }

  private func note(_ operation: String, _ path: String) throws(DiskError) {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    let line =
      operation + " " + (name.hasSuffix(".haul") ? "manifest" : name.hasSuffix("-part") ? "part" : name)
    let (code, before) = script.withLock { script in
      script.log.append(line)
      return (script.fault(line), script.before)
    }
    if let code { throw DiskError(operation, path, code: code) }
    before(line)
  }

  func openDirectory(_ path: String) throws(DiskError) -> DiskFile { try system.openDirectory(path) }
  func openExisting(_ name: String, in directory: DiskFile) throws(DiskError) -> DiskFile {
    try system.openExisting(name, in: directory)
  }
  func openToRead(_ name: String, in directory: DiskFile) throws(DiskError) -> DiskFile {
    try system.openToRead(name, in: directory)
  }
  func names(in directory: DiskFile) throws(DiskError) -> [String] { try system.names(in: directory) }
  func createExclusively(_ name: String, in directory: DiskFile) throws(DiskError) -> DiskFile {
    try note("create", name)
    return try system.createExclusively(name, in: directory)
  }
  func openStream(_ path: String) throws(DiskError) -> DiskFile { try system.openStream(path) }
  func close(_ file: DiskFile) throws(DiskError) { try system.close(file) }

  func write(_ bytes: UnsafeRawBufferPointer, to file: DiskFile, at offset: Int) throws(DiskError) -> Int {
    try note("write", file.path)
    let count = min(bytes.count, script.withLock { $0.mostPerWrite })
    return try system.write(UnsafeRawBufferPointer(rebasing: bytes.prefix(count)), to: file, at: offset)
  }
  func read(
    into buffer: UnsafeMutableRawBufferPointer, from file: DiskFile, at offset: Int
  ) throws(DiskError) -> Int {
    try system.read(into: buffer, from: file, at: offset)
  }
  func append(_ bytes: UnsafeRawBufferPointer, to file: DiskFile) throws(DiskError) -> Int {
    let count = min(bytes.count, script.withLock { $0.mostPerWrite })
    return try system.append(UnsafeRawBufferPointer(rebasing: bytes.prefix(count)), to: file)
  }

  func syncData(_ file: DiskFile) throws(DiskError) {
    try note("sync", file.path)
    try system.syncData(file)
  }
  func syncFile(_ file: DiskFile) throws(DiskError) {
    try note("fsync", file.path)
    try system.syncFile(file)
  }
  func syncDirectory(_ directory: DiskFile) throws(DiskError) {
    try note("sync", "directory")
    try system.syncDirectory(directory)
  }
  func preallocate(_ file: DiskFile, length: Int) throws(DiskError) {
    try note("reserve", file.path)
    try system.preallocate(file, length: length)
  }
  func truncate(_ file: DiskFile, length: Int) throws(DiskError) {
    try note("truncate", file.path)
    try system.truncate(file, length: length)
  }
  func status(of file: DiskFile) throws(DiskError) -> FileStatus { try system.status(of: file) }
  func status(at name: String, in directory: DiskFile) throws(DiskError) -> FileStatus? {
    try system.status(at: name, in: directory)
  }
  func renameNoReplace(_ name: String, to newName: String, in directory: DiskFile) throws(DiskError) {
    try note("rename-new", name)
    try system.renameNoReplace(name, to: newName, in: directory)
  }
  func rename(_ name: String, to newName: String, in directory: DiskFile) throws(DiskError) {
    try note("rename", name)
    try system.rename(name, to: newName, in: directory)
  }
  func link(_ name: String, to newName: String, in directory: DiskFile) throws(DiskError) {
    try note("link", name)
    try system.link(name, to: newName, in: directory)
  }
  func unlink(_ name: String, in directory: DiskFile) throws(DiskError) {
    try note("unlink", name)
    try system.unlink(name, in: directory)
  }
  func tryLock(_ file: DiskFile) throws(DiskError) -> Bool {
    try note("lock", file.path)
    return try system.tryLock(file)
  }
  func lockHolder(of status: FileStatus) -> Int32? { system.lockHolder(of: status) }
  func setMode(_ file: DiskFile, _ mode: UInt32) throws(DiskError) {
    try note("mode", file.path)
    try system.setMode(file, mode)
  }
  func setModified(_ file: DiskFile, _ seconds: Int) throws(DiskError) {
    try note("time", file.path)
    try system.setModified(file, seconds)
  }
  func dropCache(_ file: DiskFile, _ range: ByteRange?) throws(DiskError) {
    try note(range.map { "drop \($0.lower)..<\($0.upper) of" } ?? "drop", file.path)
    try system.dropCache(file, range)
  }
  func syncDoubt(_ directory: DiskFile) -> SyncDoubt? { system.syncDoubt(directory) }
  var longestCached: Int { script.withLock { $0.longestCached } }
  func freeSpace(_ directory: DiskFile) throws(DiskError) -> Int {
    if let free = script.withLock({ $0.free }) { return free }
    return try system.freeSpace(directory)
  }
  var effectiveUser: UInt32 { system.effectiveUser }
}
