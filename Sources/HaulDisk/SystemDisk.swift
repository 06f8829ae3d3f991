// SPDX-License-Identifier: Apache-2.0

internal import CPlatform

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The operations of the machine itself: opening, bytes and syncs. Names and attributes are in
/// `SystemDisk+Names.swift` and `SystemDisk+Attributes.swift`.
package struct SystemDisk: DiskOperations {
  package init() {}

  package func openDirectory(_ path: String) throws(DiskError) -> DiskFile {
    let code = O_RDONLY | O_DIRECTORY | O_CLOEXEC
    do {
      let descriptor = try repeated("open", path) { open(path, code) }
      return DiskFile(descriptor: descriptor, path: path)
    } catch {
      switch error.code {
      case ENOENT: throw DiskError("open", path, code: ENOENT, kind: .gone, detail: "there is no such folder")
      case ENOTDIR: throw DiskError("open", path, code: ENOTDIR, kind: .notFolder, detail: "it is no folder")
      default: throw error
      }
    }
  }

  package func openExisting(_ name: String, in directory: DiskFile) throws(DiskError) -> DiskFile {
    try openNamed(name, in: directory, O_RDWR)
  }

  package func openToRead(_ name: String, in directory: DiskFile) throws(DiskError) -> DiskFile {
    try openNamed(name, in: directory, O_RDONLY)
  }

  private func openNamed(
    _ name: String, in directory: DiskFile, _ access: Int32
  ) throws(DiskError) -> DiskFile {
    let path = directory.path(of: name)
    // O_NONBLOCK: a FIFO planted here would otherwise hold the committer until somebody opens its other end.
    let flags = access | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
    let descriptor = try repeated("open", path) { openat(directory.descriptor, name, flags) }
    return DiskFile(descriptor: descriptor, path: path)
  }

  package func createExclusively(_ name: String, in directory: DiskFile) throws(DiskError) -> DiskFile {
    let path = directory.path(of: name)
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    do {
      let descriptor = try repeated("create", path) { openat(directory.descriptor, name, flags, 0o600) }
      return DiskFile(descriptor: descriptor, path: path)
    } catch {
      // Creating finds no name missing: what is missing is the directory, removed while it was open, unless it is
      // one in which nobody creates anything, such as /proc.
      guard error.code == ENOENT else { throw error }
      guard isStillNamed(directory) else { throw DiskError("create", path, code: ENOENT, kind: .gone) }
      throw DiskError(
        "create", path, code: ENOENT, kind: .permission, detail: "its filesystem takes no new files")
    }
  }

  private func isStillNamed(_ directory: DiskFile) -> Bool {
    var named = stat()
    var opened = stat()
    return stat(directory.path, &named) == 0 && fstat(directory.descriptor, &opened) == 0
      && named.st_dev == opened.st_dev && named.st_ino == opened.st_ino
  }

  package func openStream(_ path: String) throws(DiskError) -> DiskFile {
    if path == "-" {
      let descriptor = try repeated("open", "standard output") { fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0) }
      return DiskFile(descriptor: descriptor, path: "standard output")
    }
    let descriptor = try repeated("open", path) { open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY) }
    return DiskFile(descriptor: descriptor, path: path)
  }

  package func close(_ file: DiskFile) throws(DiskError) {
    // EINTR is no failure here and no reason to repeat: Linux has freed the descriptor already.
    #if canImport(Glibc)
    let result = Glibc.close(file.descriptor)
    #else
    let result = Darwin.close(file.descriptor)
    #endif
    guard result == 0 || errno == EINTR else { throw DiskError("close", file.path, code: errno) }
  }

  package func write(
    _ bytes: UnsafeRawBufferPointer, to file: DiskFile, at offset: Int
  ) throws(DiskError) -> Int {
    try repeated("write to", file.path) {
      pwrite(file.descriptor, bytes.baseAddress, bytes.count, off_t(offset))
    }
  }

  package func read(
    into buffer: UnsafeMutableRawBufferPointer, from file: DiskFile, at offset: Int
  ) throws(DiskError) -> Int {
    try repeated("read from", file.path) {
      pread(file.descriptor, buffer.baseAddress, buffer.count, off_t(offset))
    }
  }

  package func append(_ bytes: UnsafeRawBufferPointer, to file: DiskFile) throws(DiskError) -> Int {
    while true {
      do {
        return try repeated("write to", file.path) {
          #if canImport(Glibc)
          Glibc.write(file.descriptor, bytes.baseAddress, bytes.count)
          #else
          Darwin.write(file.descriptor, bytes.baseAddress, bytes.count)
          #endif
        }
      } catch {
        // Whoever shares standard output may have made it non-blocking.
        guard error.code == EAGAIN else { throw error }
        var room = pollfd(fd: file.descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&room, 1, -1)
      }
    }
  }

  package func syncData(_ file: DiskFile) throws(DiskError) {
    try coded("sync the data of", file.path) { haul_sync_data(file.descriptor) }
  }

  package func syncFile(_ file: DiskFile) throws(DiskError) {
    try coded("sync", file.path) { haul_sync_file(file.descriptor) }
  }

  package func syncDirectory(_ directory: DiskFile) throws(DiskError) {
    do {
      try coded("sync the directory", directory.path) { haul_sync_file(directory.descriptor) }
    } catch {
      // Some network and FUSE filesystems have no such call: there is then nothing to be had.
      guard error.kind == .unsupported else { throw error }
    }
  }

  /// Repeats a call that answers -1 and EINTR.
  func repeated<Result: FixedWidthInteger & SignedInteger>(
    _ operation: String, _ path: String, _ call: () -> Result
  ) throws(DiskError) -> Result {
    while true {
      let result = call()
      if result >= 0 { return result }
      let code = errno
      if code != EINTR { throw DiskError(operation, path, code: code) }
    }
  }

  /// Repeats a call that answers EINTR; 0 is success.
  func coded(_ operation: String, _ path: String, _ call: () -> Int32) throws(DiskError) {
    while true {
      let code = call()
      if code == 0 { return }
      if code != EINTR { throw DiskError(operation, path, code: code) }
    }
  }
}

extension DiskFile {
  /// The path of a name in this directory, for messages.
  func path(of name: String) -> String {
    path == "." ? name : path.hasSuffix("/") ? path + name : path + "/" + name
  }
}
