// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDisk
internal import HaulPlatform
internal import HaulTransport

/// Taking over what another program has begun: the first answer tells what the file is; what is there is read once; a
/// sample of it is fetched and compared; and only then it becomes the part, and is gone on from like any other.
extension Driver {
  /// Whether the file of another program is still to be looked at.
  var awaitsAdoption: Bool { plan.adopted != nil && output == nil && adoption == nil }

  /// The first answer is here. Nothing is kept of its bytes.
  func surveyAdopted(_ file: String) {
    for connection in connections { engine.loop.remove(connection.transfer) }
    dropWaiting()
    guard let resource = machine?.resource, let length = resource.length, resource.honoursRanges else {
      return stop(plan.notAdopted("the server cannot send the parts to compare it by"))
    }
    guard resource.identity.strongest != nil || plan.hasTrustedDigest || plan.options.forcesResume else {
      return stop(
        plan.notAdopted(
          "the server gives no validator, so nobody could tell later whether it is still the same file",
          advice: "nothing was touched; give its --sha256, or --force-resume if you are sure"))
    }
    stage = .opening
    notice(.reading(path: plan.adoptedPath))
    let survey = AdoptionSurvey(
      file, for: Target(directory: plan.directory, name: name ?? ""), plan: plan,
      header: makeHeader(grid: ChunkGrid(length: length)), identity: resource.identity, disk: share.disk)
    self.survey = survey
    let (mail, id) = (share.mail, id)
    survey.start { mail.post(.surveyed($0), to: id) }
  }

  func surveyed(_ result: Result<Adoption, DownloadError>) {
    survey = nil
    guard stage == .opening else { return end(.failure(ending ?? interruptedError())) }
    switch result {
    case .failure(let error): end(.failure(error))
    case .success(let adoption):
      self.adoption = adoption
      var generator = SystemRandomNumberGenerator()
      startTrial(SourceTrial(adoption, using: &generator))
    }
  }

  /// Every block of the sample is here.
  func adoptionTried(_ trial: SourceTrial, _ adoption: Adoption) {
    guard trial.comparison.isEqual else {
      return stop(plan.notAdopted("its bytes differ from those at the URL"))
    }
    (self.trial, self.adoption) = (nil, nil)
    for connection in connections { engine.loop.remove(connection.transfer) }
    stage = .opening
    (comparedChunks, adoptedChunks) = (trial.chunks.count, adoption.survey.believed.setCount)
    notice(.adopting(chunks: adoptedChunks, comparedChunks: comparedChunks))
    let opener = OutputOpener(plan: plan, name: adoption.candidate.target.name, disk: share.disk)
    let (mail, id, plan) = (share.mail, id, plan)
    setup.lane.committer.submit {
      do throws(DiskError) {
        try adoption.candidate.take(adoption.header, adoption.survey, syncs: plan.options.isDurable)
      } catch {
        return mail.post(.opened(.failure(plan.notAdopted(error))), to: id)
      }
      mail.post(.opened(opener.open()), to: id)
    }
  }
}

extension SourceTrial {
  /// Of a file of another program: its first and its last chunk, and one of each 64 MiB between.
  init(_ adoption: Adoption, using generator: inout some RandomNumberGenerator) {
    let (survey, header) = (adoption.survey, adoption.header)
    let state = ResumeState(
      header: header, marked: survey.believed, rescuable: [], prefixes: [], flags: [],
      storedSums: survey.sums)
    let stretch = max(1, (64 << 20) / header.grid.chunkSize)
    let identity = adoption.identity
    self.init(
      state, chunks: SampleChunks.spread(over: survey.believed, stretch: stretch, using: &generator)
    ) { identity.change(to: $0) }
  }
}
