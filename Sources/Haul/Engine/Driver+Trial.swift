// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDisk
internal import HaulTransport

/// What an earlier run left came from another source, and no digest tells whether this one has the same file.
extension Driver {
  /// Fetches the chunks to compare, over one connection, before anything is touched.
  func startTrial(_ trial: SourceTrial) {
    self.trial = trial
    startMachine(resumed: trial.file)
  }

  /// Without parts there is nothing to compare by.
  func stopTrialWithoutRanges() {
    guard trial != nil, machine?.resource?.honoursRanges == false else { return }
    stop(otherDownload("the server cannot send the parts to compare it by"))
  }

  /// Every chosen chunk is here.
  func trialEnded() {
    if let trial, let adoption { return adoptionTried(trial, adoption) }
    guard let trial, let memory, let identity = machine?.resource?.identity else {
      return stop(otherDownload("it could not be compared with what is at the new URL"))
    }
    guard trial.isEqual else { return stop(otherDownload("its bytes differ from those at the new URL")) }
    self.trial = nil
    if let digest = memory.remembered { plan = plan.wanting(digest) }
    comparedChunks = trial.chunks.count
    resumedBytes = memory.bytes
    notice(.continuingFromOtherSource(source: memory.state.header.source, comparedChunks: comparedChunks))
    startMachine(resumed: memory.file(isSameSource: false) { identity.change(to: $0) })
    if machine?.isComplete == true { prepare() }
  }

  func otherDownload(_ why: String) -> DownloadError {
    if adoption != nil { return plan.notAdopted(why) }
    return memory?.occupied(why) ?? DownloadError(.occupied, "\(pathText).haul-part: \(why)")
  }
}
