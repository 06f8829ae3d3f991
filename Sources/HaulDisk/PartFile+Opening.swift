// SPDX-License-Identifier: Apache-2.0

internal import HaulCore

extension PartFile {
  /// Opens the data file of a target under its lock, and what a former run left beside it. [committer]
  ///
  /// An interrupted finish is completed first. A data file without a usable manifest is emptied (under the
  /// lock, never unlinked), a manifest of ours without its data file is removed; ``notice`` says so. A
  /// sidecar that is not ours is left alone, and so is everything where this throws.
  ///
  /// - Parameters:
  ///   - overwrite: go on where the final name exists; it is replaced by the finish and untouched until then.
  ///   - sync: false makes no sync call at all, here or later.
  /// - Throws: `.exists` where the final name is taken by a file or a link, `.busy` where another process works on the target,
  ///   `.foreign` where one of its names is not a file of ours, `.gone` without the directory.
  package static func open(
    _ target: Target, overwrite: Bool, sync: Bool = true, disk: any DiskOperations = SystemDisk()
  ) throws(DiskError) -> PartFile {
    let directory = try disk.openDirectory(target.directory)
    do throws(DiskError) {
      let opener = PartOpener(target: target, disk: disk, directory: directory, syncs: sync)
      if let final = try disk.status(at: target.name, in: directory) {
        try opener.settleInterruptedFinish(of: final)
        try refuse(final, overwrite: overwrite, target, directory)
      }
      let part = try opener.acquire()
      do throws(DiskError) {
        // A finish in another process may have come between the first look and our lock.
        if let final = try disk.status(at: target.name, in: directory) {
          try refuse(final, overwrite: overwrite, target, directory)
        }
        return try load(opener, part)
      } catch {
        if part.created { try? disk.unlink(target.partName, in: directory, ifStill: part.status) }
        try? disk.close(part.file)
        throw error
      }
    } catch {
      try? disk.close(directory)
      throw error
    }
  }

  /// Completes an interrupted finish of a file that is there and right, and makes its name durable. What of that
  /// cannot be done is left to the next open: the file itself is finished. [blocks as the disk does]
  package static func settle(_ target: Target, sync: Bool = true, disk: any DiskOperations = SystemDisk()) {
    guard let directory = try? disk.openDirectory(target.directory) else { return }
    defer { try? disk.close(directory) }
    let opener = PartOpener(target: target, disk: disk, directory: directory, syncs: sync)
    guard let final = try? disk.status(at: target.name, in: directory) else { return }
    try? opener.settleInterruptedFinish(of: final)
    if sync { try? disk.syncDirectory(directory) }
  }

  private static func refuse(
    _ final: FileStatus, overwrite: Bool, _ target: Target, _ directory: DiskFile
  ) throws(DiskError) {
    let path = directory.path(of: target.name)
    // The finish renames over a link and so replaces the link itself, never what it leads to.
    guard final.isRegular || final.isLink else {
      throw DiskError(
        overwrite ? "overwrite" : "download to", path, code: 0, kind: .foreign,
        detail: "it is not a regular file")
    }
    guard overwrite else {
      throw DiskError(
        "download to", path, code: 0, kind: .exists,
        detail: final.isLink ? "a symbolic link exists there" : "the file exists")
    }
  }

  private static func load(_ opener: PartOpener, _ part: LockedPart) throws(DiskError) -> PartFile {
    let (disk, directory, target) = (opener.disk, opener.directory, opener.target)
    let found = try ManifestFile.load(opener, part)
    var kept: LoadedManifest?
    var notice: String?
    switch found {
    case .none:
      if part.status.size > 0 {
        notice =
          "\(ByteCountText.decimal(part.status.size)) of before have no account beside them "
          + "(\(target.manifestName)), so that nobody can tell what they are"
      }
    case .usable(let loaded) where !part.created:
      kept = loaded
    case .usable(let loaded):
      try? disk.close(loaded.manifest.file)
      notice = "a manifest whose data file is gone was removed"
      try remove(loaded.manifest.identity, opener)
    case .useless(let reason, let identity):
      notice = "\(reason); the download starts over"
      try remove(identity, opener)
    }
    if kept == nil, part.status.size > 0 { try disk.truncate(part.file, length: 0) }
    return PartFile(
      target: target, syncs: opener.syncs, disk: disk, directory: directory, part: part, loaded: kept,
      notice: notice)
  }

  /// The manifest has to be gone for good before its data file is changed.
  private static func remove(_ manifest: FileStatus, _ opener: PartOpener) throws(DiskError) {
    try opener.disk.unlink(opener.target.manifestName, in: opener.directory, ifStill: manifest)
    if opener.syncs { try opener.disk.syncDirectory(opener.directory) }
  }
}
