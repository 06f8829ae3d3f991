// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDisk
internal import HaulTransport

/// What an earlier run left came from another source, or from another place that the same source led to then,
/// and no digest tells whether this one has the same file.
extension Driver {
  /// Fetches the chunks to compare, over one connection, before anything is touched.
  func startTrial(_ trial: SourceTrial) {
    self.trial = trial
    startMachine(resumed: trial.file)
  }

  /// Without parts there is nothing to compare by.
  func stopTrialWithoutRanges() {
    guard stage == .probing, trial != nil, machine?.resource?.honoursRanges == false else { return }
    trialFailed("the server cannot send the parts to compare it by")
  }

  /// Every chosen chunk is here.
  func trialEnded() {
    if let trial, let adoption { return adoptionTried(trial, adoption) }
    guard let trial, let memory, let identity = machine?.resource?.identity else {
      return trialFailed("it could not be compared with what is there")
    }
    guard trial.comparison.isEqual else { return trialFailed("its bytes differ") }
    if memory.isAnotherVersion(identity), !plan.options.forcesResume {
      return trialFailed("the server itself gives it another validator (ETag or Last-Modified)")
    }
    self.trial = nil
    if let digest = memory.remembered { plan = plan.wanting(digest) }
    comparedChunks = trial.chunks.count
    comparedValidator = identity.strongest.map(StoredValidator.init)
    resumedBytes = memory.bytes
    let source =
      memory.isSameSource ? "another place than \(route.url.source.text)" : memory.state.header.source
    notice(.continuingFromOtherSource(source: source, comparedChunks: comparedChunks))
    startMachine(resumed: memory.file(isSameSource: memory.isSameSource) { identity.change(to: $0) })
    if machine?.isComplete == true { prepare() }
  }

  /// What is there stays as it is, unless the user said otherwise.
  func trialFailed(_ why: String) {
    guard let memory, memory.isSameSource, case .part(let part)? = output else {
      return stop(otherDownload(why))
    }
    let moved = "\(plan.sourceText) leads to another place now (\(route.url.source.text)), and \(why)"
    guard plan.options.overwrites else {
      return stop(
        DownloadError(
          .changed, moved,
          advice: "nothing was touched: the same command goes on where the first place answers again; "
            + "or start over with --overwrite"))
    }
    trial = nil
    discardedBytes += (machine?.receivedBytes ?? 0) + (machine?.comparedBytes ?? 0)
    machine = nil
    notice(.startingOver(why: moved))
    clear(part, mismatch: false)
  }

  func otherDownload(_ why: String) -> DownloadError {
    if adoption != nil { return plan.notAdopted(why) }
    return memory?.occupied(why) ?? DownloadError(.occupied, "\(pathText).haul-part: \(why)")
  }
}
