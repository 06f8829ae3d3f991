// SPDX-License-Identifier: Apache-2.0

package import HaulCore

/// Every system operation that HaulDisk uses, one function a call: the place where tests fail, tear and
/// record.
///
/// No policy: each function does one thing, once, and says how it failed. Calls that a signal interrupts are
/// repeated below this table; short reads and writes are returned as they are and looped above it
/// (`DiskOperations+Loops.swift`). Any thread may call any function. Names are single components relative to
/// an open directory; a symbolic link in their place is never followed.
package protocol DiskOperations: Sendable {
  func openDirectory(_ path: String) throws(DiskError) -> DiskFile
  /// For reading and writing. Never blocks on a FIFO, never follows a link.
  func openExisting(_ name: String, in directory: DiskFile) throws(DiskError) -> DiskFile
  /// For reading alone. Never blocks on a FIFO, never follows a link.
  func openToRead(_ name: String, in directory: DiskFile) throws(DiskError) -> DiskFile
  /// The names in a directory, in no order, without `.`, `..` and those that are no UTF-8: Haul makes none.
  func names(in directory: DiskFile) throws(DiskError) -> [String]
  /// A new file with mode 0600; kind `.exists` where the name is taken by anything.
  func createExclusively(_ name: String, in directory: DiskFile) throws(DiskError) -> DiskFile
  /// An existing target for writing only, followed through links; blocks on a FIFO until somebody reads it.
  /// `-` is a duplicate of standard output.
  func openStream(_ path: String) throws(DiskError) -> DiskFile
  /// Close errors are returned, not retried: the descriptor is gone in any case.
  func close(_ file: DiskFile) throws(DiskError)

  /// The number of bytes written, at least 1 unless `bytes` is empty.
  func write(_ bytes: UnsafeRawBufferPointer, to file: DiskFile, at offset: Int) throws(DiskError) -> Int
  /// The number of bytes read, 0 only at the end of the file.
  func read(into buffer: UnsafeMutableRawBufferPointer, from file: DiskFile, at offset: Int) throws(DiskError)
    -> Int
  /// Writes at the current position of a stream, waiting for room where it does not block by itself.
  func append(_ bytes: UnsafeRawBufferPointer, to file: DiskFile) throws(DiskError) -> Int

  func syncData(_ file: DiskFile) throws(DiskError)
  func syncFile(_ file: DiskFile) throws(DiskError)
  func syncDirectory(_ directory: DiskFile) throws(DiskError)

  /// Sets aside and extends to `length` bytes; kind `.unsupported` where the filesystem cannot.
  func preallocate(_ file: DiskFile, length: Int) throws(DiskError)
  func truncate(_ file: DiskFile, length: Int) throws(DiskError)
  func status(of file: DiskFile) throws(DiskError) -> FileStatus
  /// The status of a name, of the link itself where it is one; nil where there is no such name.
  func status(at name: String, in directory: DiskFile) throws(DiskError) -> FileStatus?

  /// Kind `.exists` where the new name is taken, `.unsupported` where the filesystem cannot promise that.
  func renameNoReplace(_ name: String, to newName: String, in directory: DiskFile) throws(DiskError)
  func rename(_ name: String, to newName: String, in directory: DiskFile) throws(DiskError)
  func link(_ name: String, to newName: String, in directory: DiskFile) throws(DiskError)
  func unlink(_ name: String, in directory: DiskFile) throws(DiskError)

  /// Takes the advisory lock (flock) of the open description, without waiting; false where another holds it.
  func tryLock(_ file: DiskFile) throws(DiskError) -> Bool
  /// The process that holds the lock of a file, where the system tells (Linux: /proc/locks).
  func lockHolder(of status: FileStatus) -> Int32?

  func setMode(_ file: DiskFile, _ mode: UInt32) throws(DiskError)
  /// `seconds` since 1970; the time of last access stays.
  func setModified(_ file: DiskFile, _ seconds: Int) throws(DiskError)
  /// Forgets clean pages of a range, or of the whole file where it is nil: the next read shows the disk. Dirty
  /// ones begin to be written back, without waiting; they stay.
  func dropCache(_ file: DiskFile, _ range: ByteRange?) throws(DiskError)
  /// Longer files than this, in bytes, are not to take the page cache from everybody else.
  var longestCached: Int { get }
  /// Bytes that this user may still take on the directory's filesystem.
  func freeSpace(_ directory: DiskFile) throws(DiskError) -> Int
  /// Why syncs on the directory's filesystem may keep nothing; nil where nothing speaks against them.
  func syncDoubt(_ directory: DiskFile) -> SyncDoubt?
  /// The user that new files belong to.
  var effectiveUser: UInt32 { get }
}

/// Why a sync may not keep anything.
package enum SyncDoubt: Equatable, Sendable {
  /// The filesystem lives in memory: tmpfs, ramfs.
  case inMemory
  /// A program that is no part of the system decides what a sync does.
  case fuse

  /// By what statfs(2) calls the filesystem's type on Linux.
  init?(magic: UInt64) {
    switch magic {
    case 0x0102_1994, 0x8584_58f6: self = .inMemory
    case 0x6573_5546: self = .fuse
    default: return nil
    }
  }
}
