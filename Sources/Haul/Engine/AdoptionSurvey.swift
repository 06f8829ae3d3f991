// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDisk
internal import HaulPlatform
private import Synchronization

/// A partial file of another program on its way to becoming the part of a download.
struct Adoption: Sendable {
  let candidate: PartCandidate
  let survey: PartCandidate.Survey
  let header: ManifestHeader
  /// What the first answer has called the file.
  let identity: Identity
}

/// Reads a partial file of another program on a thread of its own.
final class AdoptionSurvey: Sendable {
  private let plan: DownloadPlan
  private let file: String
  private let header: ManifestHeader
  private let identity: Identity
  private let disk: any DiskOperations
  private let target: Target
  private let isCancelled = Atomic<Bool>(false)

  init(
    _ file: String, for target: Target, plan: DownloadPlan, header: ManifestHeader, identity: Identity,
    disk: any DiskOperations
  ) {
    (self.file, self.target, self.plan, self.header) = (file, target, plan, header)
    (self.identity, self.disk) = (identity, disk)
  }

  func cancel() { isCancelled.store(true, ordering: .relaxed) }

  func start(_ done: @escaping @Sendable (Result<Adoption, DownloadError>) -> Void) {
    startThread(name: "haul-adopt") { [self] in
      done(Result { () throws(DownloadError) in try run() })
    }
  }

  private func run() throws(DownloadError) -> Adoption {
    let (candidate, survey) = try read()
    guard let survey else {
      throw DownloadError(.interrupted, "interrupted: \(plan.sourceText)", advice: "nothing was touched")
    }
    guard survey.believed.setCount > 0 else {
      throw plan.notAdopted(
        "it holds too little: nothing but zeros, or less than 2 MiB, of which the last one counts for nothing"
      )
    }
    return Adoption(candidate: candidate, survey: survey, header: header, identity: identity)
  }

  private func read() throws(DownloadError) -> (PartCandidate, PartCandidate.Survey?) {
    let length = header.grid.length
    do throws(DiskError) {
      let candidate = try PartCandidate(file, for: target, disk: disk)
      if candidate.size <= length {
        let survey = try candidate.survey(header.grid, id: header.id) {
          !isCancelled.load(ordering: .relaxed)
        }
        return (candidate, survey)
      }
    } catch {
      throw plan.notAdopted(error)
    }
    throw plan.notAdopted("it is longer than the file at the URL (\(length) bytes)")
  }
}

extension DownloadPlan {
  /// Where the file of another program is, for messages.
  var adoptedPath: String {
    let name = adopted ?? ""
    return directory == "." ? name : directory == "/" ? "/\(name)" : "\(directory)/\(name)"
  }

  func notAdopted(
    _ why: String, advice: String = "check the URL; nothing was touched"
  ) -> DownloadError {
    DownloadError(.occupied, "\(adoptedPath) cannot be taken over: \(why)", advice: advice)
  }

  func notAdopted(_ failure: DiskError) -> DownloadError {
    var error = DownloadError(failure, kept: nil)
    switch error.code {
    case .exists: error.advice = "nothing was touched; choose another name with -o"
    case .occupied: error.advice = "nothing was touched"
    case .disk where failure.kind == .missing: error.advice = "check its name"
    default: break
    }
    return error
  }
}
