// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDigest
internal import HaulDisk
internal import HaulTransport

/// A validator as a manifest keeps it: not its text, which may identify a person, but its hash.
struct StoredValidator: Equatable {
  let kind: ManifestHeader.ValidatorKind
  let hash: [UInt8]

  init(_ validator: Validator) {
    switch validator {
    case .strongETag(let text): (kind, hash) = (.strongETag, Digest.sha256(of: Array(text.utf8)))
    case .lastModified(let text, _): (kind, hash) = (.lastModified, Digest.sha256(of: Array(text.utf8)))
    }
  }
}

/// Decides whether what an earlier run left may be gone on from.
struct PartMemory {
  enum Verdict {
    case resume(ResumedFile, bytes: Int)
    /// It did not have the digest of an earlier run; it may have the one that is wanted now.
    case prove(ExpectedDigest, otherwise: DownloadError)
    /// From another source: a few chunks are compared first.
    case compare(SourceTrial)
    /// Not usable, and nobody loses by starting over.
    case discard(why: String)
    case refuse(DownloadError)
  }

  let state: ResumeState
  let plan: DownloadPlan
  /// Of the file that it is a part of.
  let name: String

  /// Bytes that the partial claims to have.
  var bytes: Int { present.count }

  /// Of those, what the manifest vouches for.
  var durableBytes: Int { promised.count }

  /// What needs no fetching for now: chunks that a slot marks, chunks that their sums may prove (they are
  /// checked beside the download, and fetched again where they fail), and the proven starts of others.
  private var present: ByteRangeSet {
    var set = promised
    for chunk in state.rescuable { set.insert(state.header.grid.range(of: chunk)) }
    return set
  }

  private var promised: ByteRangeSet {
    let grid = state.header.grid
    var set = ByteRangeSet()
    for run in state.marked.runs(of: true) {
      set.insert(ByteRange(grid.range(of: run.lowerBound).lower, grid.range(of: run.upperBound - 1).upper))
    }
    for prefix in state.prefixes {
      let start = grid.range(of: prefix.chunk).lower
      set.insert(ByteRange(start, start + prefix.length))
    }
    return set
  }

  var canResume: Bool {
    switch verdict {
    case .resume, .compare: true
    case .prove, .discard, .refuse: false
    }
  }

  var verdict: Verdict {
    let header = state.header
    if plan.options.overwrites, !(isSameSource || isSameDigest) || state.flags.contains(.mismatch) {
      return .discard(why: "--overwrite")
    }
    if state.flags.contains(.mismatch) {
      let error = DownloadError(
        .digestMismatch, "an earlier download of \(header.source) did not have its digest",
        advice: "start over with --overwrite, or compare the digest with its publisher's")
      if let wanted = plan.wanted, isSameSource, wanted != header.digest {
        return .prove(wanted, otherwise: error)
      }
      return .refuse(error)
    }
    // The bytes of one source and validator are the same whatever digest they were begun for: it may have been
    // mistyped. Elsewhere only the digest can tell.
    if let wanted = plan.wanted, let stored = header.digest, stored != wanted, !isSameSource {
      return .refuse(
        occupied("it was begun for another digest, which the file of this URL cannot have as well"))
    }
    guard isSameSource || isSameDigest else {
      // A few equal chunks do not make what came in the open as good as what comes over TLS.
      if header.source.hasPrefix("http://"), plan.url.origin.scheme == "https" {
        return .refuse(occupied("it came unencrypted, and this URL is https"))
      }
      // Without a validator nobody can tell whether the earlier bytes belong together themselves.
      if header.validatorKind != .none || plan.options.forcesResume,
        let trial = SourceTrial(state, dice: .random(in: 0..<1))
      {
        return .compare(trial)
      }
      return .refuse(occupied("nothing tells whether this URL has the same file"))
    }
    let hasDigest = plan.hasTrustedDigest || earlierDigest != nil
    guard header.validatorKind != .none || hasDigest || plan.options.forcesResume else {
      return .discard(why: Self.noValidator + (storedDigest.map { Self.giveAgain($0) } ?? ""))
    }
    let isSameSource = isSameSource
    return .resume(
      file(isSameSource: isSameSource, change: Self.comparison(with: header, isSameSource: isSameSource)),
      bytes: present.count)
  }

  /// What a transfer is told of it.
  func file(
    isSameSource: Bool, change: @escaping @Sendable (Identity) -> ResourceChange?
  ) -> ResumedFile {
    ResumedFile(grid: state.header.grid, present: present, isSameSource: isSameSource, change: change)
  }

  var isSameSource: Bool {
    !state.header.source.isEmpty
      && state.header.source == ManifestHeader.storable(source: plan.sourceText) { Digest.sha256(of: $0) }
  }

  /// Whether another path of the same origin has a file with another validator. A few equal chunks do not outweigh
  /// that: builds of two days differ in a few bytes. Validators of two origins say nothing about each other.
  func isAnotherVersion(_ identity: Identity) -> Bool {
    let header = state.header
    guard !isSameSource, Self.origin(of: header.source) == Self.origin(of: plan.sourceText),
      let now = identity.strongest.map(StoredValidator.init), now.kind == header.validatorKind
    else { return false }
    return now.hash != header.validatorHash
  }

  /// Scheme, host and port of a source, which is text like `http://host:80/path`.
  private static func origin(of source: String) -> [Substring] {
    Array(source.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3))
  }

  private var isSameDigest: Bool {
    plan.hasTrustedDigest && state.header.digest == plan.wanted
  }

  /// The digest that the server has to declare again before the bytes may be gone on from: without a validator
  /// and a digest of the user's it alone tells that the file is still the same.
  var neededDeclaration: HaulCore.ExpectedDigest? {
    guard state.header.validatorKind == .none, plan.wanted == nil, isSameSource, !plan.options.forcesResume,
      plan.believesDigests(from: plan.url.origin), state.header.expectedDigest?.isDeclared == true
    else { return nil }
    return state.header.trustedDigest
  }

  /// The same, as it is to be noted.
  var earlierDigest: ServerDigests? { neededDeclaration.map { ServerDigests(earlier: $0) } }

  private static let noValidator =
    "the server gave no validator, so nobody can tell whether the file is still the same "
    + "(--force-resume goes on all the same)"

  private static func giveAgain(_ digest: HaulCore.ExpectedDigest) -> String {
    "; the \(digest.algorithm.name) that was known then, \(digest.hex), counts only if it is given again"
  }

  /// What is there is another download's.
  func occupied(_ why: String) -> DownloadError {
    let source = state.header.source
    let url = source.isEmpty || source.hasPrefix("sha256:") ? "a URL that is not kept as text" : source
    return DownloadError(
      .occupied, "\(plan.pathText(name: name)).haul-part belongs to another download, of \(url): \(why)",
      advice: "nothing was touched; choose another name with -o, or start over with --overwrite")
  }

  /// Compares a response with what a manifest stored of the earlier ones. A validator means something within its
  /// own source only; elsewhere the digest decides in the end.
  static func comparison(
    with header: ManifestHeader, isSameSource: Bool = true
  ) -> @Sendable (Identity) -> ResourceChange? {
    { identity in
      if let length = identity.length, length != header.grid.length {
        return .length(was: header.grid.length, is: length)
      }
      guard header.validatorKind != .none, isSameSource else { return nil }
      guard let now = identity.strongest else {
        return .storedValidator(isTag: header.validatorKind == .strongETag)
      }
      let stored = StoredValidator(now)
      if stored.kind == header.validatorKind, stored.hash == header.validatorHash { return nil }
      return .storedValidator(isTag: header.validatorKind == .strongETag)
    }
  }
}
