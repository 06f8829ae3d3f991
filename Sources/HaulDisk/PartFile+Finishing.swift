// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulPlatform

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension PartFile {
  /// Gives the complete file its final name. [committer, after the digest was compared; no write under way]
  ///
  /// In this order: data synced, mode, time, name without replacing, directory synced, manifest removed,
  /// directory synced. When it returns, the file is there for good (but for `--no-sync`).
  ///
  /// - Parameters:
  ///   - mode: permission bits of the finished file; nil keeps 0600.
  ///   - modified: seconds since 1970; nil keeps the time of the last write.
  ///   - overwrite: replaces an existing file, in one step.
  /// - Throws: `.incomplete` where bytes are missing, `.exists` where the name was taken meanwhile (part and
  ///   manifest stay), `.gone` where the part file lost its name, and errors of the files.
  package func finish(mode: UInt32?, modified: Int?, overwrite: Bool) throws(DiskError) {
    try ledger.withLock { (ledger) throws(DiskError) in
      try insistHealthy(ledger, "finish")
      guard !ledger.finished else { return }
      try settleLength()
      try sync(&ledger) { () throws(DiskError) in try disk.syncFile(data) }
      try setAttributes(mode: mode, modified: modified)
      guard let named = try disk.status(at: target.partName, in: directory), named.isSameFile(as: identity)
      else {
        throw DiskError("finish", data.path, code: 0, kind: .gone, detail: "the file was renamed or removed")
      }
      try rename(overwrite: overwrite)
      // The file has its name: from here on nothing may take it for a part again.
      ledger.finished = true
      if syncs { try disk.syncDirectory(directory) }
      guard let manifest = ledger.manifest else { return }
      // What is left of the manifest is only untidy, and the next open removes it: not worth a failed
      // download.
      do throws(DiskError) {
        try disk.unlink(target.manifestName, in: directory, ifStill: manifest.identity)
        if syncs { try disk.syncDirectory(directory) }
      } catch {}
    }
  }

  /// Brings the file to its length, and refuses where a byte is missing.
  private func settleLength() throws(DiskError) {
    let (length, complete) = state.withLock { state -> (Int?, Bool) in
      (state.length, state.frontier >= state.length ?? .max && state.chunks.isFull)
    }
    let size = try disk.status(of: data).size
    guard let length, complete, size >= length else {
      throw DiskError("finish", data.path, code: 0, kind: .incomplete, detail: "it is not complete")
    }
    if size > length { try disk.truncate(data, length: length) }
  }

  /// Filesystems that keep no modes or times refuse; the bytes are no worse for it.
  private func setAttributes(mode: UInt32?, modified: Int?) throws(DiskError) {
    do throws(DiskError) {
      if let mode { try disk.setMode(data, mode) }
      if let modified { try disk.setModified(data, modified) }
    } catch {
      guard error.kind == .permission || error.kind == .unsupported else { throw error }
    }
  }

  private func rename(overwrite: Bool) throws(DiskError) {
    let (part, name) = (target.partName, target.name)
    if overwrite { return try disk.rename(part, to: name, in: directory) }
    do throws(DiskError) {
      return try disk.renameNoReplace(part, to: name, in: directory)
    } catch {
      guard error.kind == .unsupported else { throw error }
    }
    if try linkWithoutReplacing() { return try disk.unlink(part, in: directory, ifStill: identity) }
    // Neither call exists here (FAT, some network filesystems): somebody who creates the name between the
    // look and the rename loses his file. Nothing better is to be had.
    guard try disk.status(at: name, in: directory) == nil else {
      throw DiskError("rename to", directory.path(of: name), code: EEXIST, kind: .exists)
    }
    try disk.rename(part, to: name, in: directory)
  }

  /// A link never replaces. Stopped after it, both names are one file, and the next open removes the part's.
  /// False where the filesystem has no links.
  private func linkWithoutReplacing() throws(DiskError) -> Bool {
    do throws(DiskError) {
      try disk.link(target.partName, to: target.name, in: directory)
      return true
    } catch {
      guard error.kind == .unsupported || error.kind == .permission else { throw error }
      return false
    }
  }
}
