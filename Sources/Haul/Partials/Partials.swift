// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDisk

/// Unfinished downloads on the disk. All of it blocks as long as the filesystem does.
public enum Partials {
  /// Looks at one partial file without changing anything: no lock is taken, no link followed.
  ///
  /// - Parameter path: of the file that it is to be, of its part (`NAME.haul-part`) or of its manifest (`NAME.haul`).
  /// - Throws: ``DownloadError/Code/invalidRequest`` where the path names no file, ``DownloadError/Code/disk`` where
  ///   there is no part and no manifest, or they cannot be read.
  public static func inspect(_ path: String) throws(DownloadError) -> Partial {
    let candidates = targets(of: path)
    guard let first = candidates.first else {
      throw DownloadError(
        .invalidRequest, "\(path) names no file", advice: "name a file, its .haul-part or its .haul")
    }
    for target in candidates {
      if let found = try reading({ () throws(DiskError) in try PartInspector().look(at: target) }) {
        return Partial(found)
      }
    }
    throw DownloadError(
      .disk, "nothing unfinished is at \(path): there is neither \(first.partName) nor \(first.manifestName)",
      advice: "check its name; haul partials lists what is unfinished in a folder")
  }

  /// All that is unfinished in a folder, by name. What another program has called `.haul` is left out.
  /// - Throws: ``DownloadError/Code/disk`` where the folder cannot be read.
  public static func list(in directory: String) throws(DownloadError) -> [Partial] {
    try reading { () throws(DiskError) in
      let inspector = PartInspector()
      var partials: [Partial] = []
      for target in try inspector.targets(in: directory) {
        guard let found = try inspector.look(at: target) else { continue }
        if found.part == nil, case .foreign = found.finding { continue }
        partials.append(Partial(found))
      }
      return partials
    }
  }

  /// Removes part and manifest of a partial file, under its lock: first the manifest, for good, then the part. Stopped
  /// anywhere it leaves what the next download starts over. The finished file, and what is not Haul's, is not touched.
  ///
  /// - Throws: ``DownloadError/Code/busy`` where a process holds it, ``DownloadError/Code/occupied`` where something
  ///   under its names is not Haul's, ``DownloadError/Code/disk``.
  public static func remove(_ partial: Partial) throws(DownloadError) {
    try reading { () throws(DiskError) in
      // Opening to overwrite does it all: lock, second look, whose manifest it is, what a finish has left.
      let part = try PartFile.open(
        Target(directory: partial.directory, name: partial.name), overwrite: true)
      defer { part.close() }
      try part.remove()
    }
  }

  /// The targets that a path may mean: itself first, because a file may be called `x.haul`.
  private static func targets(of path: String) -> [Target] {
    let slash = path.lastIndex(of: "/")
    let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let name = String(slash.map { path[path.index(after: $0)...] } ?? path[...])
    guard !name.isEmpty, name != ".", name != "..", !path.utf8.contains(0) else { return [] }
    let bases = Target.suffixes.filter { name.hasSuffix($0) && name.utf8.count > $0.utf8.count }
      .map { String(decoding: name.utf8.dropLast($0.utf8.count), as: UTF8.self) }
    return ([name] + bases).map { Target(directory: directory, name: $0) }
  }

  private static func reading<Value>(_ body: () throws(DiskError) -> Value) throws(DownloadError) -> Value {
    do throws(DiskError) {
      return try body()
    } catch {
      let (code, advice): (DownloadError.Code, String) =
        switch error.kind {
        case .busy: (.busy, "wait for it, or stop it")
        case .foreign: (.occupied, "it is left alone")
        case .missing, .gone: (.disk, "check its name")
        case .readOnly, .permission: (.disk, "check whose it is")
        default: (.disk, "check the disk")
        }
      throw DownloadError(code, "\(error)", advice: advice)
    }
  }
}
