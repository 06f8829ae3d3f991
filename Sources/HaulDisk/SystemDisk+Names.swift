// SPDX-License-Identifier: Apache-2.0

internal import CPlatform

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension SystemDisk {
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
