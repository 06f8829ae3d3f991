// SPDX-License-Identifier: Apache-2.0

import HaulCore
import HaulDisk
import HaulPlatform
import Testing

/// The machine's disk, with writes that stand still, fail or fall short, and syncs that fail. Counts what it is
/// asked for. Any thread.
final class FaultyDisk: DiskOperations {
  struct Rules {
    /// Writes to paths with this text in them stand still until it is nil again.
    var holdsWritesTo: String?
    /// Reads of data files from this offset stand still until it is nil again.
    var holdsReadsAt: Int?
    /// Writes standing still right now.
    var heldWrites = 0
    /// The errno of every write to a data file at this offset or later.
    var writeError: (from: Int, code: Int32)?
    /// The errno of creating a manifest.
    var createError: Int32?
    /// The errno of every look into a manifest that is there.
    var manifestError: Int32?
    /// The errno of every removal.
    var unlinkError: Int32?
    /// The errno of every sync.
    var syncError: Int32?
    var largestWrite = Int.max
    var mayPreallocate = true
    var freeSpace: Int?
    var syncDoubt: SyncDoubt?

    var syncs = 0
    var writes = 0
  }

  private let system = SystemDisk()
  private let rules = Monitor(Rules())

  func change(_ body: (inout Rules) -> Void) { rules.signal { body(&$0) } }

  var seen: Rules { rules.withLock { $0 } }

  /// Bounded only so that a test that waits in vain fails instead of holding up all others.
  func waitUntil(_ condition: (Rules) -> Bool) {
    let came = rules.wait(seconds: 60) { condition($0) }
    #expect(came, "the disk never came to that")
  }

  // MARK: What may fail

  func write(_ bytes: UnsafeRawBufferPointer, to file: DiskFile, at offset: Int) throws(DiskError) -> Int {
    rules.signal { rules in
      rules.writes += 1
      rules.heldWrites += 1
    }
    rules.wait { $0.holdsWritesTo.map { file.path.contains($0) } ?? false ? nil : () }
    let (code, most) = rules.signal { rules -> (Int32?, Int) in
      rules.heldWrites -= 1
      let isMeant = file.path.hasSuffix(".haul-part") && offset >= rules.writeError?.from ?? .max
      return (isMeant ? rules.writeError?.code : nil, rules.largestWrite)
    }
    if let code { throw DiskError("write to", file.path, code: code) }
    return try system.write(UnsafeRawBufferPointer(rebasing: bytes.prefix(most)), to: file, at: offset)
  }

  private func noteSync(_ operation: String, _ file: DiskFile) throws(DiskError) {
    let code = rules.signal { rules -> Int32? in
      rules.syncs += 1
      return rules.syncError
    }
    if let code { throw DiskError(operation, file.path, code: code) }
  }

  func syncData(_ file: DiskFile) throws(DiskError) {
    try noteSync("sync the data of", file)
    try system.syncData(file)
  }
  func syncFile(_ file: DiskFile) throws(DiskError) {
    try noteSync("sync", file)
    try system.syncFile(file)
  }
  func syncDirectory(_ directory: DiskFile) throws(DiskError) {
    try noteSync("sync the directory", directory)
    try system.syncDirectory(directory)
  }
  func preallocate(_ file: DiskFile, length: Int) throws(DiskError) {
    guard seen.mayPreallocate else { throw DiskError("preallocate", file.path, code: 0, kind: .unsupported) }
    try system.preallocate(file, length: length)
  }
  func freeSpace(_ directory: DiskFile) throws(DiskError) -> Int {
    if let free = seen.freeSpace { return free }
    return try system.freeSpace(directory)
  }

  func syncDoubt(_ directory: DiskFile) -> SyncDoubt? { seen.syncDoubt }

  // MARK: What is passed on

  func openDirectory(_ path: String) throws(DiskError) -> DiskFile { try system.openDirectory(path) }
  func openExisting(_ name: String, in directory: DiskFile) throws(DiskError) -> DiskFile {
    if let code = seen.manifestError, name.hasSuffix(".haul") { throw DiskError("open", name, code: code) }
    return try system.openExisting(name, in: directory)
  }
  func openToRead(_ name: String, in directory: DiskFile) throws(DiskError) -> DiskFile {
    try system.openToRead(name, in: directory)
  }
  func names(in directory: DiskFile) throws(DiskError) -> [String] { try system.names(in: directory) }
  func createExclusively(_ name: String, in directory: DiskFile) throws(DiskError) -> DiskFile {
    if let code = seen.createError, name.hasSuffix(".haul") {
      throw DiskError("create", "\(directory.path)/\(name)", code: code)
    }
    return try system.createExclusively(name, in: directory)
  }
  func openStream(_ path: String) throws(DiskError) -> DiskFile { try system.openStream(path) }
  func close(_ file: DiskFile) throws(DiskError) { try system.close(file) }
  func read(
    into buffer: UnsafeMutableRawBufferPointer, from file: DiskFile, at offset: Int
  ) throws(DiskError) -> Int {
    if file.path.hasSuffix(".haul-part") { rules.wait { $0.holdsReadsAt == offset ? nil : () } }
    return try system.read(into: buffer, from: file, at: offset)
  }
  func append(_ bytes: UnsafeRawBufferPointer, to file: DiskFile) throws(DiskError) -> Int {
    try system.append(bytes, to: file)
  }
  func truncate(_ file: DiskFile, length: Int) throws(DiskError) { try system.truncate(file, length: length) }
  func status(of file: DiskFile) throws(DiskError) -> FileStatus { try system.status(of: file) }
  func status(at name: String, in directory: DiskFile) throws(DiskError) -> FileStatus? {
    try system.status(at: name, in: directory)
  }
  func renameNoReplace(_ name: String, to newName: String, in directory: DiskFile) throws(DiskError) {
    try system.renameNoReplace(name, to: newName, in: directory)
  }
  func rename(_ name: String, to newName: String, in directory: DiskFile) throws(DiskError) {
    try system.rename(name, to: newName, in: directory)
  }
  func link(_ name: String, to newName: String, in directory: DiskFile) throws(DiskError) {
    try system.link(name, to: newName, in: directory)
  }
  func unlink(_ name: String, in directory: DiskFile) throws(DiskError) {
    if let code = seen.unlinkError { throw DiskError("remove", name, code: code) }
    try system.unlink(name, in: directory)
  }
  func tryLock(_ file: DiskFile) throws(DiskError) -> Bool { try system.tryLock(file) }
  func lockHolder(of status: FileStatus) -> Int32? { system.lockHolder(of: status) }
  func setMode(_ file: DiskFile, _ mode: UInt32) throws(DiskError) { try system.setMode(file, mode) }
  func setModified(_ file: DiskFile, _ seconds: Int) throws(DiskError) {
    try system.setModified(file, seconds)
  }
  func dropCache(_ file: DiskFile, _ range: ByteRange?) throws(DiskError) {
    try system.dropCache(file, range)
  }
  var longestCached: Int { system.longestCached }
  var effectiveUser: UInt32 { system.effectiveUser }
}
