// SPDX-License-Identifier: Apache-2.0

internal import CPlatform

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension SystemDisk {
  package func names(in directory: DiskFile) throws(DiskError) -> [String] {
    // A descriptor of its own: reading moves the position that all copies share, and closing closes it.
    let descriptor = try repeated("list", directory.path) {
      openat(directory.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }
    guard let stream = fdopendir(descriptor) else {
      let code = errno
      closeDescriptor(descriptor)
      throw DiskError("list", directory.path, code: code)
    }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else { break }
      let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
        tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) {
          String(validatingCString: $0)
        }
      }
      if let name, name != ".", name != ".." { names.append(name) }
    }
    if errno != 0 { throw DiskError("list", directory.path, code: errno) }
    return names
  }

  package func renameNoReplace(
    _ name: String, to newName: String, in directory: DiskFile
  ) throws(DiskError) {
    try coded("rename to", directory.path(of: newName)) {
      haul_rename_no_replace(directory.descriptor, name, newName)
    }
  }

  package func rename(_ name: String, to newName: String, in directory: DiskFile) throws(DiskError) {
    _ = try repeated("rename to", directory.path(of: newName)) {
      renameat(directory.descriptor, name, directory.descriptor, newName)
    }
  }

  package func link(_ name: String, to newName: String, in directory: DiskFile) throws(DiskError) {
    _ = try repeated("link to", directory.path(of: newName)) {
      linkat(directory.descriptor, name, directory.descriptor, newName, 0)
    }
  }

  package func unlink(_ name: String, in directory: DiskFile) throws(DiskError) {
    _ = try repeated("remove", directory.path(of: name)) { unlinkat(directory.descriptor, name, 0) }
  }

  package func tryLock(_ file: DiskFile) throws(DiskError) -> Bool {
    do {
      _ = try repeated("lock", file.path) { flock(file.descriptor, LOCK_EX | LOCK_NB) }
      return true
    } catch {
      if error.code == EWOULDBLOCK { return false }
      throw error
    }
  }

  package func lockHolder(of status: FileStatus) -> Int32? {
    #if canImport(Glibc)
    let descriptor = open("/proc/locks", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { _ = Glibc.close(descriptor) }
    var text: [UInt8] = []
    // Bounded: a machine with more locks than fit into 1 MiB only costs the process id in a message.
    while text.count < 1 << 20 {
      let piece = [UInt8](unsafeUninitializedCapacity: 1 << 14) { buffer, count in
        count = max(0, Glibc.read(descriptor, buffer.baseAddress, buffer.count))
      }
      if piece.isEmpty { break }
      text += piece
    }
    return ProcLocks.holder(in: String(decoding: text, as: UTF8.self), of: status)
    #else
    return nil
    #endif
  }
}

// The type's own `close` would hide the system's.
private func closeDescriptor(_ descriptor: Int32) { close(descriptor) }
