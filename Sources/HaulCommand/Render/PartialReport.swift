// SPDX-License-Identifier: Apache-2.0

import Haul
import HaulCore

/// What the command says about unfinished files. Pure: values in, lines out.
struct PartialReport {
  /// Seconds since 1970.
  var now: Int
  var columns: Int
  var usesBlocks: Bool

  // MARK: One of them

  func inspection(_ partial: Partial) -> [String] {
    let name = TerminalSafe.escaped(partial.name)
    var lines = ["\(name): \(amount(partial))\(state(partial.state))"]
    guard let manifest = partial.manifest else { return lines + table(partRows(partial)) }
    if manifest.chunkCount > 0 {
      let map = ChunkMap(
        count: manifest.chunkCount, durable: manifest.durableChunks, written: manifest.writtenChunks,
        usesBlocks: usesBlocks)
      lines += ["", map.row(width: columns), map.legend]
    }
    return lines + [""]
      + table(identity(manifest) + amounts(manifest) + history(manifest) + partRows(partial))
  }

  private func identity(_ manifest: PartialManifest) -> [(String, String)] {
    let validator =
      switch manifest.validator {
      case .strongETag: "strong ETag"
      case .lastModified: "Last-Modified"
      case .none: "none: goes on only with a digest or --force-resume"
      }
    return [
      ("source", manifest.source.map(TerminalSafe.escaped) ?? "not known"),
      ("validator", validator),
      ("digest", manifest.expected.map { "\($0.algorithm.rawValue) \($0.hex)" } ?? "none is expected"),
    ]
  }

  private func amounts(_ manifest: PartialManifest) -> [(String, String)] {
    var rows = [
      ("length", Self.exactly(manifest.length)),
      ("chunks", "\(manifest.chunkCount) of \(manifest.chunkSize >> 10) KiB"),
      ("durable", Self.exactly(manifest.durableBytes)),
    ]
    if manifest.writtenBytes > 0 {
      rows.append(("written", "\(Self.exactly(manifest.writtenBytes)) more, not yet durable"))
    }
    return rows
  }

  private func history(_ manifest: PartialManifest) -> [(String, String)] {
    var flags = [manifest.hasStoppedCleanly ? "stopped in order" : "not stopped in order"]
    if manifest.digestDiffered { flags.append("did not have its digest") }
    if manifest.isUnsynced { flags.append("--no-sync: only sums count") }
    let slots = manifest.slots.map { slot in
      let counts = slot.name == manifest.countingSlot ? ", counts" : ""
      return "\(slot.name) " + (slot.sequence.map { "state \($0)\(counts)" } ?? "not valid")
    }
    return [
      ("begun", moment(manifest.created)), ("last commit", moment(manifest.lastWritten)),
      ("flags", flags.joined(separator: "; ")),
      ("slots", slots.joined(separator: "; ")),
    ]
  }

  private func partRows(_ partial: Partial) -> [(String, String)] {
    let part = partial.partBytes.map { "\(Self.exactly($0)) long" } ?? "not there"
    return [("part", part), ("on disk", Quantities.bytes(partial.allocatedBytes))]
  }

  private func table(_ rows: [(String, String)]) -> [String] {
    rows.map { name, value in
      name + String(repeating: " ", count: max(1, 13 - name.count)) + value
    }
  }

  // MARK: Many

  /// Two lines for each: what and how far, and where it came from.
  func list(_ partials: [Partial]) -> [String] {
    partials.flatMap { partial in
      let first = "\(TerminalSafe.escaped(partial.name)): \(amount(partial))\(state(partial.state))"
      guard let manifest = partial.manifest else { return [first] }
      let source = manifest.source.map(TerminalSafe.escaped) ?? "from an unknown source"
      return [first, "  \(source), \(age(manifest.lastWritten)) ago"]
    }
  }

  func total(_ partials: [Partial], in directory: String) -> String {
    let place = TerminalSafe.escaped(directory)
    if partials.isEmpty { return "nothing unfinished in \(place)" }
    let bytes = partials.reduce(0) { $0 + $1.allocatedBytes }
    return "\(partials.count) unfinished in \(place), \(Quantities.bytes(bytes)) on the disk"
  }

  // MARK: Words

  private func amount(_ partial: Partial) -> String {
    guard let manifest = partial.manifest else {
      return partial.partBytes.map { Quantities.bytes($0) + ", " } ?? ""
    }
    let done = manifest.durableBytes + manifest.writtenBytes
    // Rounded down: 100% is for what is complete.
    let percent = manifest.length == 0 ? 100 : Int(Double(done) / Double(manifest.length) * 100)
    return "\(Quantities.bytes(done)) of \(Quantities.bytes(manifest.length)) (\(percent)%), "
  }

  private func state(_ state: Partial.State) -> String {
    switch state {
    case .resumable: "resumable"
    case .running(let process): "running in process \(process)"
    case .digestDiffered: "did not have its digest: goes on with another one, or starts over with --overwrite"
    case .damaged(let why): "damaged (\(TerminalSafe.escaped(why))): a download starts over"
    case .withoutManifest: "part without manifest: a download starts over"
    case .withoutPart: "manifest without part: a download starts over"
    case .finished: "finished; the next download clears this away"
    case .foreign(let why): "not Haul's (\(TerminalSafe.escaped(why))): left alone"
    }
  }

  private static func exactly(_ bytes: Int) -> String {
    bytes < 1000 ? Quantities.bytes(bytes) : "\(Quantities.bytes(bytes)) (\(bytes) bytes)"
  }

  /// A date, and how long ago that is. A damaged clock may have written anything.
  private func moment(_ seconds: Int) -> String {
    guard (0..<253_402_300_800).contains(seconds) else { return "not known" }
    let date = HTTPDate.format(seconds)
    return seconds > now ? "\(date), in the future" : "\(date), \(age(seconds)) ago"
  }

  private func age(_ seconds: Int) -> String {
    guard (0...now).contains(seconds) else { return "an unknown time" }
    let passed = now - seconds
    func count(_ number: Int, _ unit: String) -> String { "\(number) \(unit)\(number == 1 ? "" : "s")" }
    if passed < 120 { return count(passed, "second") }
    if passed < 7200 { return count(passed / 60, "minute") }
    if passed < 172_800 { return count(passed / 3600, "hour") }
    return count(passed / 86_400, "day")
  }
}
