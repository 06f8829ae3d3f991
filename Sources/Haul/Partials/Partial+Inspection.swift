// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDisk

extension Partial {
  init(_ found: PartInspection) {
    let statuses = [found.part, found.manifest].compactMap { $0 }
    self.init(
      directory: found.target.directory, name: found.target.name, state: State(found),
      partBytes: found.part?.size, allocatedBytes: statuses.reduce(0) { $0 + $1.allocated },
      manifest: PartialManifest(found))
  }
}

extension Partial.State {
  /// What counts most comes first.
  init(_ found: PartInspection) {
    if let part = found.part, !part.isRegular {
      self = .foreign(why: "the part is \(part.isLink ? "a symbolic link" : "not a regular file")")
    } else if let holder = found.holder {
      self = .running(process: holder)
    } else if found.isFinished {
      self = .finished
    } else if let part = found.part, part.links != 1 {
      self = .foreign(why: "the part has a second name (hard link)")
    } else {
      switch found.finding {
      case .none: self = .withoutManifest
      case .foreign(let why): self = .foreign(why: "the manifest: \(why)")
      case .damaged(let why): self = .damaged(why: why)
      case .readable where found.part == nil: self = .withoutPart
      case .readable(let view):
        self = view.state.flags.contains(.mismatch) ? .digestDiffered : .resumable
      }
    }
  }
}

extension PartialManifest {
  init?(_ found: PartInspection) {
    guard let view = found.view, let account = found.account, let status = found.manifest else { return nil }
    let header = view.header
    let grid = header.grid
    let written = Self.runs(account.provable)
    func bytes(_ runs: [Range<Int>]) -> Int {
      runs.reduce(0) { $0 + grid.range(of: $1.upperBound - 1).upper - grid.range(of: $1.lowerBound).lower }
    }
    let durable = account.marked.runs(of: true)
    self.init(
      source: header.source.isEmpty ? nil : header.source, validator: Validator(header.validatorKind),
      length: grid.length, chunkSize: grid.chunkSize, chunkCount: grid.count, durableChunks: durable,
      writtenChunks: written, durableBytes: bytes(durable) + account.prefixes.reduce(0) { $0 + $1.length },
      writtenBytes: bytes(written), created: header.created, lastWritten: status.modified,
      expected: header.expectedDigest.flatMap(ExpectedDigest.init(stored:)).map(Checksum.init),
      hasStoppedCleanly: view.state.flags.contains(.cleanStop),
      digestDiffered: view.state.flags.contains(.mismatch),
      isUnsynced: view.state.flags.contains(.notSynced),
      slots: zip(["A", "B"], view.sequences).map { Slot(name: $0, sequence: $1.map { Int($0) }) },
      countingSlot: view.state.position.map { ["A", "B"][$0] })
  }

  private static func runs(_ chunks: [Int]) -> [Range<Int>] {
    var runs: [Range<Int>] = []
    for chunk in chunks {
      if let last = runs.last, last.upperBound == chunk {
        runs[runs.count - 1] = last.lowerBound..<chunk + 1
      } else {
        runs.append(chunk..<chunk + 1)
      }
    }
    return runs
  }
}

extension PartialManifest.Validator {
  init(_ kind: ManifestHeader.ValidatorKind) {
    switch kind {
    case .none: self = .none
    case .strongETag: self = .strongETag
    case .lastModified: self = .lastModified
    }
  }
}
