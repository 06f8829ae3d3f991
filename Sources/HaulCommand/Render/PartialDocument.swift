// SPDX-License-Identifier: Apache-2.0

import Haul

/// What `haul inspect --json` and `haul partials --json` print. The man page describes it; members are only ever
/// added within one version. Pure.
enum PartialDocument {
  static let version = 1

  static func one(_ partial: Partial) -> JSONValue {
    .object([("format", .text("haul-partial")), ("version", .number(version))] + members(partial))
  }

  /// - Parameter freed: for each partial what its removal came to; nil where none was asked for.
  static func list(_ partials: [Partial], in directory: String, removed: [String: JSONValue]?) -> JSONValue {
    .object([
      ("format", .text("haul-partials")), ("version", .number(version)), ("directory", .text(directory)),
      (
        "partials",
        .list(
          partials.map { partial in
            let removal = removed.map { [("removed", $0[partial.name] ?? .bool(false))] } ?? []
            return .object(members(partial) + removal)
          })
      ),
    ])
  }

  private static func members(_ partial: Partial) -> [(String, JSONValue)] {
    let (state, process, problem) = words(partial.state)
    return [
      ("name", .text(partial.name)),
      ("directory", .text(partial.directory)),
      ("state", .text(state)),
      ("process", .optional(process)),
      ("problem", .optional(problem)),
      ("part_bytes", .optional(partial.partBytes)),
      ("allocated_bytes", .number(partial.allocatedBytes)),
      ("manifest", partial.manifest.map(manifest) ?? .null),
    ]
  }

  private static func words(_ state: Partial.State) -> (word: String, process: Int?, problem: String?) {
    switch state {
    case .resumable: ("resumable", nil, nil)
    case .running(let process): ("running", Int(process), nil)
    case .digestDiffered: ("digest-differed", nil, nil)
    case .damaged(let why): ("damaged", nil, why)
    case .withoutManifest: ("part-without-manifest", nil, nil)
    case .withoutPart: ("manifest-without-part", nil, nil)
    case .finished: ("finished", nil, nil)
    case .foreign(let why): ("foreign", nil, why)
    }
  }

  private static func manifest(_ manifest: PartialManifest) -> JSONValue {
    .object([
      ("source", .optional(manifest.source)),
      ("validator", .text(manifest.validator.rawValue)),
      ("length", .number(manifest.length)),
      ("chunk_size", .number(manifest.chunkSize)),
      ("chunk_count", .number(manifest.chunkCount)),
      ("durable_bytes", .number(manifest.durableBytes)),
      ("durable_chunks", runs(manifest.durableChunks)),
      ("written_bytes", .number(manifest.writtenBytes)),
      ("written_chunks", runs(manifest.writtenChunks)),
      ("created", .number(manifest.created)),
      ("last_written", .number(manifest.lastWritten)),
      (
        "expected_digest",
        manifest.expected.map {
          .object([("algorithm", .text($0.algorithm.rawValue)), ("hex", .text($0.hex))])
        } ?? .null
      ),
      ("clean_stop", .bool(manifest.hasStoppedCleanly)),
      ("digest_differed", .bool(manifest.digestDiffered)),
      ("not_synced", .bool(manifest.isUnsynced)),
      ("counting_slot", .optional(manifest.countingSlot)),
      (
        "slots",
        .list(
          manifest.slots.map { .object([("name", .text($0.name)), ("sequence", .optional($0.sequence))]) })
      ),
    ])
  }

  /// Each run as its first chunk and the number of chunks.
  private static func runs(_ runs: [Range<Int>]) -> JSONValue {
    .list(runs.map { .list([.number($0.lowerBound), .number($0.count)]) })
  }
}
