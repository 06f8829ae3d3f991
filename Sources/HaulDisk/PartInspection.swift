// SPDX-License-Identifier: Apache-2.0

package import HaulCore

/// What stands at the three names of a target, as it was found by reading alone: no lock was taken, nothing written,
/// no link followed. A download that is running may have gone on since.
package struct PartInspection: Equatable, Sendable {
  package enum Finding: Equatable, Sendable {
    case none
    /// Not a manifest of Haul's, or one that it does not believe: why.
    case foreign(String)
    /// Ours, but nothing can be learned from it: why.
    case damaged(String)
    case readable(ManifestView)
  }

  package let target: Target
  package let part: FileStatus?
  package let manifest: FileStatus?
  package let final: FileStatus?
  package let finding: Finding
  /// The process that holds the part's lock, where the system tells.
  package let holder: Int32?

  package var view: ManifestView? {
    if case .readable(let view) = finding { return view }
    return nil
  }

  /// Whether the finished file is there and a stop came before the last names were cleared away.
  package var isFinished: Bool {
    guard let final, final.isRegular else { return false }
    if let part { return part.isSameFile(as: final) }
    return view.map { $0.header.device == final.device && $0.header.inode == final.inode } ?? false
  }

  /// What the manifest is worth for the part that is there; nil without a readable one.
  package var account: ManifestState.Account? {
    view.map { view in
      let isSameFile = part.map { view.header.device == $0.device && view.header.inode == $0.inode } ?? false
      return view.state.account(sums: view.sums, isSameFile: isSameFile, size: part?.size ?? 0)
    }
  }
}

/// All that a manifest says.
package struct ManifestView: Equatable, Sendable {
  package let state: ManifestState
  /// The sequences of slot A and B; nil for one that is not valid.
  package let sequences: [UInt64?]
  /// One a chunk, 0 = none.
  package let sums: [UInt64]

  package var header: ManifestHeader { state.header }
}

/// Looks at targets without changing anything. Blocks as long as the filesystem does.
package struct PartInspector: Sendable {
  private let disk: any DiskOperations

  package init(disk: any DiskOperations = SystemDisk()) { self.disk = disk }

  /// The targets in a directory whose part or manifest is there, by name. A sidecar that is nobody's part and not
  /// of Haul's is another program's and left out.
  package func targets(in path: String) throws(DiskError) -> [Target] {
    let directory = try disk.openDirectory(path)
    defer { try? disk.close(directory) }
    var names: Set<String> = []
    for name in try disk.names(in: directory) {
      for suffix in Target.suffixes where name.utf8.count > suffix.utf8.count && name.hasSuffix(suffix) {
        names.insert(String(decoding: name.utf8.dropLast(suffix.utf8.count), as: UTF8.self))
      }
    }
    return names.map { Target(directory: path, name: $0) }.sorted { $0.name < $1.name }
  }

  /// Nil where there is neither a part nor a manifest.
  package func look(at target: Target) throws(DiskError) -> PartInspection? {
    let directory = try disk.openDirectory(target.directory)
    defer { try? disk.close(directory) }
    let part = try disk.status(at: target.partName, in: directory)
    let manifest = try disk.status(at: target.manifestName, in: directory)
    guard part != nil || manifest != nil else { return nil }
    let finding = manifest == nil ? .none : try read(target, in: directory, hasPart: part != nil)
    return PartInspection(
      target: target, part: part, manifest: manifest,
      final: try disk.status(at: target.name, in: directory), finding: finding,
      holder: part.flatMap { disk.lockHolder(of: $0) })
  }

  private func read(
    _ target: Target, in directory: DiskFile, hasPart: Bool
  ) throws(DiskError) -> PartInspection.Finding {
    let file: DiskFile
    do throws(DiskError) {
      file = try disk.openToRead(target.manifestName, in: directory)
    } catch {
      switch error.kind {
      case .missing: return .none
      case .foreign: return .foreign("it is not a regular file")
      // One file that somebody else keeps to himself does not hide the others.
      case .permission: return .foreign("you may not read it")
      default: throw error
      }
    }
    defer { try? disk.close(file) }
    let status = try disk.status(of: file)
    if !status.isRegular { return .foreign("it is not a regular file") }
    if status.owner != disk.effectiveUser { return .foreign("it belongs to another user") }
    if status.links != 1 { return .foreign("it has a second name (hard link)") }
    let pages = try disk.readBytes(ManifestLayout.headerSize, from: file, at: 0)
    let header: ManifestHeader
    do throws(ManifestError) {
      header = try ManifestState.header(in: pages, codec: .xxh3)
    } catch {
      switch error {
      case .damaged(let why): return .damaged(why)
      case .newerVersion: return .foreign("it is \(error)")
      case .notOurs:
        // Zeros are a manifest that was never written only beside a part; elsewhere anybody may have them.
        if hasPart, try ManifestFile.isBlank(file, status, disk) { return .damaged("it was never written") }
        return .foreign("it is \(error)")
      }
    }
    return .readable(try view(header, file))
  }

  private func view(_ header: ManifestHeader, _ file: DiskFile) throws(DiskError) -> ManifestView {
    let layout = ManifestLayout(header.grid)
    var slots: [[UInt8]] = []
    for offset in layout.slotOffsets {
      slots.append(try disk.readBytes(layout.slotSize, from: file, at: offset))
    }
    return ManifestView(
      state: ManifestState.choose(header: header, slots: slots, codec: .xxh3),
      sequences: slots.map {
        (try? ManifestCodec.xxh3.decodeSlot($0, id: header.id, grid: header.grid))?.sequence
      },
      sums: try ManifestFile.readSums(file, layout, disk))
  }
}
