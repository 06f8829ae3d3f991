// SPDX-License-Identifier: Apache-2.0

import HaulCore
import HaulPlatform
import TestSupport

@testable import HaulDisk

/// Opens what a crash has left with the production loader, and holds it against what was promised.
struct CrashCheck {
  let belief: Belief
  let syncs: Bool

  private static let target = CrashScenario.target

  /// What is wrong with it; nil where everything holds.
  func problem(in image: VolumeImage) -> String? {
    do {
      return try problemWhenOpened(image)
    } catch {
      return "it cannot be gone on from: \(error)"
    }
  }

  private func problemWhenOpened(_ image: VolumeImage) throws -> String? {
    if let final = image[Self.target.name] {
      if belief.isFinished, image.names.count > 1 { return "something is left beside the finished file" }
      return problem(inFinal: final)
    }
    if belief.isFinished { return "the finished file is gone" }
    let disk = SimulatedDisk(image, remembers: false)
    let part: PartFile
    do throws(DiskError) {
      part = try PartFile.open(Self.target, overwrite: false, sync: syncs, disk: disk)
    } catch {
      // A manifest that was being made when the power went may be beyond recognition. It is refused and not
      // removed, because it may be somebody's; nothing had been promised yet.
      guard error.kind == .foreign, belief.durable?.chunks.isEmpty ?? true else { throw error }
      return nil
    }
    defer { part.close() }
    guard let resume = part.resume else {
      if let durable = belief.durable, !durable.chunks.isEmpty { return "durable chunks are forgotten" }
      if syncs, belief.flagged != nil { return "it is forgotten that its digest was wrong" }
      return try problemOfCompleting(part, ContentName(generation: 1 << 20, attempt: 1), disk, fresh: true)
    }
    let generation = resume.header.id.low
    if syncs, belief.flagged == generation, !resume.flags.contains(.mismatch) {
      return "it is forgotten that its digest was wrong"
    }
    if let problem = problem(inMarked: resume, of: image, generation) { return problem }
    try part.adoptAndProve(disk)
    for chunk in belief.damaged where part.expectedSum(ofChunk: chunk) != nil { try part.distrust([chunk]) }
    return try problemOfAdopted(part, generation, disk)
  }

  private func problem(inFinal bytes: [UInt8]) -> String? {
    guard let finishing = belief.finishing else { return "the final name came before its time" }
    // Without syncs a power loss may take bytes of a finished file: that is what --no-sync says.
    return !syncs || bytes == finishing.bytes ? nil : "the final name has wrong bytes"
  }

  /// I1: what a slot marks is there, before anything is proven.
  private func problem(inMarked resume: ResumeState, of image: VolumeImage, _ generation: UInt64) -> String? {
    let grid = resume.header.grid
    let bytes = image[Self.target.partName] ?? []
    if !syncs, resume.marked.setCount > 0 { return "chunks are marked without a sync" }
    for chunk in 0..<grid.count where resume.marked[chunk] && !belief.damaged.contains(chunk) {
      let range = grid.range(of: chunk)
      guard contentNames(generation, bytes, ByteRange(range.lower, range.upper)).isEmpty else { continue }
      return "chunk \(chunk) is marked and has other bytes"
    }
    return nil
  }

  /// What is believed after the proof is of one version, not one that was thrown away, and all that was promised.
  private func problemOfAdopted(_ part: PartFile, _ generation: UInt64, _ disk: SimulatedDisk) throws
    -> String?
  {
    let bytes = disk.state.withLock { $0.seen[Self.target.partName] } ?? []
    let (ranges, chunks) = part.state.withLock { ($0.written.ranges, $0.chunks) }
    guard syncs else { return problemWithoutSyncs(bytes, generation, chunks) }
    var names: Set<ContentName>?
    for range in ranges {
      let found = contentNames(generation, bytes, range)
      names = names?.intersection(found) ?? found
    }
    if names?.isEmpty == true { return "bytes of no version, or of two, are believed" }
    let alive = names.map { $0.subtracting(belief.gone) }
    if alive?.isEmpty == true { return "bytes are believed that were thrown away" }
    if let durable = belief.durable, !durable.chunks.isEmpty {
      guard durable.content.generation == generation else { return "durable chunks are forgotten" }
      let lost = durable.chunks.filter { !chunks[$0] }
      guard lost.isEmpty else { return "durable chunks \(lost.sorted()) are lost" }
    }
    let content = alive?.max { $0.attempt < $1.attempt } ?? ContentName(generation: generation, attempt: 1)
    return try problemOfCompleting(part, content, disk, fresh: false)
  }

  /// Without syncs a power loss can bring back chunks of an attempt that had the wrong digest, beside later ones. The
  /// digest is compared again at the end; a chunk of nothing, or of another generation, is never believed.
  private func problemWithoutSyncs(
    _ bytes: [UInt8], _ generation: UInt64, _ chunks: ChunkBitmap
  ) -> String? {
    let grid = ContentName(generation: generation, attempt: 1).header.grid
    for chunk in 0..<grid.count where chunks[chunk] {
      let range = grid.range(of: chunk)
      if contentNames(generation, bytes, range).isEmpty {
        return "chunk \(chunk) is believed and of no version"
      }
    }
    return nil
  }

  /// Fetches what is missing and gives it its name: the file has to be right.
  private func problemOfCompleting(
    _ part: PartFile, _ content: ContentName, _ disk: SimulatedDisk, fresh: Bool
  ) throws -> String? {
    if fresh {
      try part.begin(grid: content.header.grid, header: content.header, adopt: false)
      try part.reserve()
    }
    for gap in part.state.withLock({ $0.written.gaps(in: ByteRange(0, ContentName.length)) }) {
      try part.put(content.bytes, gap.lower..<gap.upper, generation: part.snapshot().generation)
    }
    _ = try part.commit(.periodic)
    try part.finish(mode: nil, modified: nil, overwrite: false)
    let names = disk.state.withLock { $0.seen }
    guard names[Self.target.name] == content.bytes else { return "the completed file is wrong" }
    return names.names.count == 1 ? nil : "something is left beside the finished file"
  }

  /// The versions of a generation that have these bytes in this place.
  private func contentNames(_ generation: UInt64, _ bytes: [UInt8], _ range: ByteRange) -> Set<ContentName> {
    guard range.upper <= bytes.count else { return [] }
    let attempts = (1...UInt64(12)).map { ContentName(generation: generation, attempt: $0) }
    return Set(
      attempts.filter {
        ContentCache.bytes(of: $0)[range.lower..<range.upper] == bytes[range.lower..<range.upper]
      })
  }
}

/// The versions are asked for again and again.
enum ContentCache {
  private static let known = Monitor<[ContentName: [UInt8]]>([:])

  static func bytes(of name: ContentName) -> [UInt8] {
    if let bytes = known.withLock({ $0[name] }) { return bytes }
    let bytes = Workshop.content(ContentName.length, salt: name.generation << 8 | name.attempt)
    known.withLock { $0[name] = bytes }
    return bytes
  }
}
