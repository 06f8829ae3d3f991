// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDisk
internal import HaulPlatform
internal import HaulTransport

/// Answers that do not have their own Content-Digest: what they brought is struck out and fetched again.
///
/// The digest of the file may have passed their bytes already, so it ends first, and begins anew afterwards.
extension Driver {
  /// What the body of an accepted answer is to be compared with; nil where there is nothing, or where the body
  /// is the whole file, whose digest is compared in the end.
  func bodyCheck(_ head: ResponseHead) -> BodyCheck? {
    guard plan.checksBodies, let range = head.bodyRange,
      let wanted = ServerDigests.ofBody(head)
    else { return nil }
    return BodyCheck(range, wanted: wanted)
  }

  func bodyDiffers(_ range: ByteRange, generation: Int) {
    guard generation == self.generation else { return }
    switch stage {
    case .fetching, .draining, .stopping: break
    default: return
    }
    guard let grid, case .part = output else { return stop(wrongBodyError(range, "it cannot be taken back")) }
    let isHopeless = doubted.doubt(grid.indices(touching: range))
    if stage == .stopping { return }
    if isHopeless { return stop(wrongBodyError(range, "as two answers with these bytes before")) }
    notice(.wrongAnswer(bytes: range.count))
    strikeDoubted()
  }

  /// Ends the digest if there is one, then strikes out what is doubted. Called again when the digest has ended.
  func strikeDoubted() {
    guard !doubted.isEmpty, !doubted.isStriking, case .part(let part)? = output else { return }
    if hasher != nil { return part.cancelWaiters() }
    let chunks = doubted.beginStrike()
    let (mail, id) = (share.mail, id)
    setup.lane.committer.submit {
      mail.post(.struck(chunks, Result { () throws(DiskError) in try part.distrust(chunks) }), to: id)
    }
  }

  func struck(_ chunks: [Int], _ result: Result<Void, DiskError>, now: Double) {
    doubted.endStrike()
    guard stage == .fetching || stage == .draining, case .part(let part)? = output, let grid else { return }
    if case .failure(let error) = result { return stop(DownloadError(error, kept: nil)) }
    machine?.lost(chunks.map { grid.range(of: $0) }, now: now)
    if stage == .draining {
      stage = .fetching
      isDrained = false
    }
    part.admitWaiters()
    startHasher(part)
    // What was there is no lead: the network does not wait until it is hashed again.
    hasCaughtUp = false
    strikeDoubted()
  }

  private func wrongBodyError(_ range: ByteRange, _ why: String) -> DownloadError {
    DownloadError(
      .brokenProtocol,
      "\(route.url.source.text): the answer for bytes \(range.httpSpec) does not have its Content-Digest, \(why)",
      advice:
        "try again later; if it is the server's own digest that is wrong, --checksum none does not look at it"
    )
  }
}
