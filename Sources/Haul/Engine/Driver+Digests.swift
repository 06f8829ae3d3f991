// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDigest
internal import HaulDisk
internal import HaulPlatform
internal import HaulTransport

/// Which digests are computed, what the server declares, and what the result is worth.
extension Driver {
  /// Takes note of what a response declares about the whole file, before the first byte of its body.
  func noteDigests(of head: ResponseHead, _ decision: HeadDecision, connection: Connection) {
    switch decision {
    case .redirect where plan.believesDigests(from: connection.route.url.origin):
      connection.hopDigests.add(ServerDigests(hop: head))
    case .take:
      var digests = connection.hopDigests
      let range = head.bodyRange
      if plan.believesDigests(from: connection.route.url.origin) {
        digests.add(ServerDigests(head, bodyIsWhole: range == nil))
      } else if plan.checksBodies, range == nil {
        digests.add(ServerDigests(ofWholeBody: head))
      }
      declared.note(digests, range: range)
      if case .stream(let sink)? = output {
        let algorithms = neededDigests
        sink.writer.submit { sink.compute(algorithms) }
      }
    default: break
    }
  }

  /// What is computed in the one pass over the file.
  var neededDigests: Set<DigestAlgorithm> {
    var algorithms: Set<DigestAlgorithm> = plan.options.computesDigest ? [.sha256] : []
    if let needed = plan.wanted?.algorithm ?? declared.neededAlgorithm, Digest.isOffered(needed) {
      algorithms.insert(needed)
    }
    return algorithms
  }

  /// What the last hasher has found.
  var computedDigests: DigestSet {
    if case .digests(let digests)? = hasherOutcome { return digests }
    return DigestSet()
  }

  /// Whether a digest decides in the end which file this is, so that parts of two runs may meet.
  var hasTrustedDigest: Bool {
    if plan.hasTrustedDigest { return true }
    guard header?.trustedDigest != nil else { return false }
    return header?.expectedDigest?.isDeclared == false || plan.believesDigests(from: plan.url.origin)
  }

  /// What the digests of the complete file are worth.
  func verdict(on digests: DigestSet) -> DigestVerdict {
    let verdict = DigestVerdict.judge(digests, wanted: plan.wanted, declared: declared)
    // The answer came as it was sent, by a word that anybody on the way could have changed with the bytes.
    if case .matches(_, .contentDigest?) = verdict, !plan.believesDigests(from: route.url.origin) {
      return .unchecked
    }
    return verdict
  }

  func status(of verdict: DigestVerdict, _ digests: DigestSet) -> DownloadResult.DigestStatus {
    switch verdict {
    case .matches(let digest, let field) where digest.algorithm.isWeak:
      .matchesWeak(field: field?.rawValue)
    case .matches(_, nil): .verified
    case .matches(_, let field?): .matchesServer(field: field.rawValue)
    case .unchecked, .differs, .notComputed: digests.isEmpty ? .none : .computed
    }
  }

  func mismatchMessage(_ wanted: ExpectedDigest, _ found: [UInt8], _ field: DigestField?) -> String {
    let source =
      switch field {
      case nil: ""
      case .earlier?: " (\(field?.rawValue ?? ""))"
      case let field?: " (\(field.rawValue) of the server)"
      }
    return "the \(wanted.algorithm.name) of \(route.url.source.text) is \(HexDigest(bytes: found).hex), "
      + "not \(wanted.hex)\(source)"
  }

  func mismatchAdvice(_ field: DigestField?, isStream: Bool) -> String {
    switch (field, isStream) {
    case (nil, false) where changeSeen != nil:
      "get the digest of the present version and run it again with that: if it matches, nothing is fetched again; "
        + "--overwrite --checksum none takes the file as it comes"
    case (nil, false) where plan.isWantedFromBefore:
      "the digest was given to an earlier run: compare it with its publisher's, and give the right one; "
        + "--overwrite --checksum none takes the file as it comes"
    case (nil, false): "compare the digest with its publisher's; a new try starts over with --overwrite"
    case (_?, false):
      "if it is the server's own digest that is wrong, take the file as it comes with --checksum none --overwrite"
    case (nil, true): "what was written cannot be taken back: do not use it"
    case (_?, true):
      "what was written cannot be taken back: do not use it; if the server's own digest is wrong, --checksum none"
        + " does not look at it"
    }
  }

  /// The user's digest was not there to compare with.
  var noDigestError: DownloadError {
    DownloadError(.other, "no digest was computed", advice: "this is a fault in Haul: please report it")
  }
}

extension ResponseHead {
  /// The bytes of the file that this accepted answer brings, or nil where that is all of them.
  var bodyRange: ByteRange? {
    guard status == 206, let field = headers["Content-Range"],
      case .satisfied(let range, let total)? = ContentRange.parse(field)
    else { return nil }
    return range.lower == 0 && range.upper == total ? nil : range
  }
}

extension ManifestHeader {
  /// The digest by which the file was known when it was begun, whoever has brought it.
  var digest: HaulCore.ExpectedDigest? { expectedDigest.flatMap(HaulCore.ExpectedDigest.init(stored:)) }

  /// The same where it is proof enough of which file it is.
  var trustedDigest: HaulCore.ExpectedDigest? { digest.flatMap { $0.isStrong ? $0 : nil } }
}
