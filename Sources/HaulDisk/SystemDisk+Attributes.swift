// SPDX-License-Identifier: Apache-2.0

internal import CPlatform
package import HaulCore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension SystemDisk {
  package var effectiveUser: UInt32 { geteuid() }

  package func preallocate(_ file: DiskFile, length: Int) throws(DiskError) {
    guard length > 0 else { return }
    try coded("reserve \(length) bytes for", file.path) {
      haul_preallocate(file.descriptor, 0, Int64(length))
    }
  }

  package func truncate(_ file: DiskFile, length: Int) throws(DiskError) {
    _ = try repeated("set the length of", file.path) { ftruncate(file.descriptor, off_t(length)) }
  }

  package func status(of file: DiskFile) throws(DiskError) -> FileStatus {
    var status = stat()
    _ = try repeated("look at", file.path) { fstat(file.descriptor, &status) }
    return FileStatus(status)
  }

  package func status(at name: String, in directory: DiskFile) throws(DiskError) -> FileStatus? {
    var status = stat()
    do {
      _ = try repeated("look at", directory.path(of: name)) {
        fstatat(directory.descriptor, name, &status, AT_SYMLINK_NOFOLLOW)
      }
      return FileStatus(status)
    } catch {
      if error.code == ENOENT { return nil }
      throw error
    }
  }

  package func setMode(_ file: DiskFile, _ mode: UInt32) throws(DiskError) {
    _ = try repeated("set the mode of", file.path) { fchmod(file.descriptor, mode_t(mode)) }
  }

  package func setModified(_ file: DiskFile, _ seconds: Int) throws(DiskError) {
    #if canImport(Glibc)
    let omit = (1 << 30) - 2  // UTIME_OMIT, a macro that is not imported
    #else
    let omit = -2
    #endif
    let times = [timespec(tv_sec: 0, tv_nsec: omit), timespec(tv_sec: seconds, tv_nsec: 0)]
    _ = try repeated("set the time of", file.path) { futimens(file.descriptor, times) }
  }

  package func dropCache(_ file: DiskFile, _ range: ByteRange?) throws(DiskError) {
    if let range, range.isEmpty { return }  // a length of 0 would mean all of it
    try coded("drop the cache of", file.path) {
      haul_drop_cache(file.descriptor, Int64(range?.lower ?? 0), Int64(range?.count ?? 0))
    }
  }

  /// An eighth of the machine's memory.
  package var longestCached: Int {
    let (pages, size) = (sysconf(Int32(_SC_PHYS_PAGES)), sysconf(Int32(_SC_PAGESIZE)))
    return pages > 0 && size > 0 ? pages * size / 8 : Int.max
  }

  package func syncDoubt(_ directory: DiskFile) -> SyncDoubt? {
    SyncDoubt(magic: haul_filesystem_magic(directory.descriptor))
  }

  package func freeSpace(_ directory: DiskFile) throws(DiskError) -> Int {
    var space = statvfs()
    _ = try repeated("ask for the free space of", directory.path) { fstatvfs(directory.descriptor, &space) }
    let (bytes, overflow) = UInt64(space.f_bavail).multipliedReportingOverflow(by: UInt64(space.f_frsize))
    return overflow ? Int.max : Int(clamping: bytes)
  }
}

extension FileStatus {
  init(_ status: stat) {
    self.init(
      device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino),
      size: Int(status.st_size), allocated: Int(status.st_blocks) * 512,
      mode: UInt32(status.st_mode) & 0o7777, links: Int(status.st_nlink), owner: status.st_uid,
      isRegular: status.st_mode & S_IFMT == S_IFREG, isLink: status.st_mode & S_IFMT == S_IFLNK,
      modified: Self.modified(status))
  }

  private static func modified(_ status: stat) -> Int {
    #if canImport(Glibc)
    Int(status.st_mtim.tv_sec)
    #else
    Int(status.st_mtimespec.tv_sec)
    #endif
  }
}
