// SPDX-License-Identifier: Apache-2.0

internal import HaulCore

/// A data file that this process has locked and whose name was still its own after that.
struct LockedPart {
  let file: DiskFile
  let status: FileStatus
  /// It was not there before.
  let created: Bool
}

/// The way to a locked data file: what a former finish left is settled first, then open, lock, look again.
struct PartOpener {
  /// Others may rename between our open and our lock this often before we give up.
  static let mostAttempts = 100

  let target: Target
  let disk: any DiskOperations
  let directory: DiskFile
  let syncs: Bool

  /// Completes a finish that was interrupted after its rename or link.
  ///
  /// Only `.busy` is thrown: whatever else keeps the cleaning from being done, the file itself is finished.
  func settleInterruptedFinish(of final: FileStatus) throws(DiskError) {
    guard final.isRegular else { return }
    do throws(DiskError) {
      let part = try disk.status(at: target.partName, in: directory)
      // Final and part on one inode: stopped between link and unlink.
      let linked = part?.isSameFile(as: final) == true
      // The final name has the inode that the manifest was made for: stopped before the manifest was removed.
      let sidecar = part == nil || linked ? try sidecar(of: final) : nil
      guard linked || sidecar != nil else { return }
      let file = try disk.openExisting(target.name, in: directory)
      defer { try? disk.close(file) }
      // The finishing process may be alive, and then the cleaning is its own.
      guard try disk.tryLock(file) else { throw busy(final) }
      if linked { try disk.unlink(target.partName, in: directory, ifStill: final) }
      if let sidecar { try disk.unlink(target.manifestName, in: directory, ifStill: sidecar) }
      if syncs { try disk.syncDirectory(directory) }
    } catch {
      if case .busy = error.kind { throw error }
    }
  }

  /// The manifest's status where it is ours and names `final` as its data file.
  private func sidecar(of final: FileStatus) throws(DiskError) -> FileStatus? {
    let file: DiskFile
    do throws(DiskError) {
      file = try disk.openExisting(target.manifestName, in: directory)
    } catch {
      if error.kind == .missing { return nil }
      throw error
    }
    defer { try? disk.close(file) }
    let status = try disk.status(of: file)
    guard status.isRegular, status.owner == disk.effectiveUser, status.links == 1 else { return nil }
    let pages = try disk.readBytes(ManifestLayout.headerSize, from: file, at: 0)
    guard let header = try? ManifestState.header(in: pages, codec: .xxh3) else { return nil }
    return header.inode == final.inode && header.device == final.device ? status : nil
  }

  /// Opens or creates the data file and locks it.
  func acquire() throws(DiskError) -> LockedPart {
    for _ in 0..<Self.mostAttempts {
      guard let (file, created) = try openOrCreate() else { continue }
      do throws(DiskError) {
        if let status = try lock(file) { return LockedPart(file: file, status: status, created: created) }
      } catch {
        try? disk.close(file)
        throw error
      }
      try? disk.close(file)
    }
    throw DiskError(
      "lock", directory.path(of: target.partName), code: 0, kind: .busy(holderProcess: nil),
      detail: "its name changes faster than it can be locked")
  }

  /// Nil where somebody created the name between our two tries.
  private func openOrCreate() throws(DiskError) -> (DiskFile, created: Bool)? {
    do throws(DiskError) {
      return (try disk.openExisting(target.partName, in: directory), false)
    } catch {
      guard error.kind == .missing else { throw error }
    }
    do throws(DiskError) {
      return (try disk.createExclusively(target.partName, in: directory), true)
    } catch {
      guard error.kind == .exists else { throw error }
      return nil
    }
  }

  /// Locks the file; nil where its name has meanwhile gone to another (a finish renamed it, somebody removed
  /// it).
  private func lock(_ file: DiskFile) throws(DiskError) -> FileStatus? {
    let found = try disk.status(of: file)
    guard found.isRegular else { throw foreign(file, "it is not a regular file") }
    guard found.owner == disk.effectiveUser else { throw foreign(file, "it belongs to another user") }
    guard try disk.tryLock(file) else { throw busy(found) }
    // Looked at again under the lock: before it, a finish in another process could still rename or link.
    let status = try disk.status(of: file)
    guard let named = try disk.status(at: target.partName, in: directory), named.isSameFile(as: status) else {
      return nil
    }
    guard status.links == 1 else { throw foreign(file, "it has a second name (hard link)") }
    return status
  }

  private func foreign(_ file: DiskFile, _ detail: String) -> DiskError {
    DiskError("use", file.path, code: 0, kind: .foreign, detail: detail)
  }

  private func busy(_ status: FileStatus) -> DiskError {
    DiskError(
      "lock", directory.path(of: target.partName), code: 0,
      kind: .busy(holderProcess: disk.lockHolder(of: status)))
  }
}
