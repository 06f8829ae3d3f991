// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDigest
internal import HaulDisk
internal import HaulPlatform
internal import HaulTransport

/// A link that leads to another place than before.
extension Driver {
  // MARK: At a resume

  /// So often the place may change between a comparison and the next answer.
  private static let mostTrials = 3

  /// Where the URL leads to another place than in the earlier run, an equal validator means nothing: some
  /// chunks are compared, before anything is touched. False where there is no need to.
  func comparesPlaceFirst() -> Bool {
    guard let memory, memory.isSameSource, resumedBytes > 0, memory.state.header.validatorKind != .none,
      let resource = machine?.resource, case .part(let part)? = output, !plan.hasTrustedDigest
    else { return false }
    guard storedPlace != (comparedPlace ?? memory.state.header.place) else { return false }
    trials += 1
    for connection in connections { engine.loop.remove(connection.transfer) }
    dropWaiting()
    guard resource.honoursRanges, let trial = SourceTrial(memory.state, dice: .random(in: 0..<1)),
      trials <= Self.mostTrials
    else {
      let why = "the URL leads to another place now (\(resource.place)), and nothing can be compared with it"
      if plan.options.restartsOnChange {
        notice(.discarding(bytes: resumedBytes, why: why))
        clear(part, mismatch: false)
      } else {
        fail(TransferFailure(.elsewhere, why))
      }
      return true
    }
    comparedPlace = storedPlace
    startTrial(trial)
    return true
  }

  // MARK: During the download

  /// Chooses what to compare of the place that has just answered on `connection`.
  func comparePlace(of connection: Connection, now: Double) {
    otherRoute = connection.route.pinned
    let chosen = output.flatMap { Self.samples(of: $0) }
    comparison = chosen
    machine?.compare(
      with: chosen?.ranges ?? [], mayCome: rescue != nil || buffersWithWriter > 0, now: now,
      dice: .random(in: 0..<1))
    share.mail.wakeUpAgain()
  }

  private static func samples(of output: OpenedOutput) -> ChunkComparison? {
    let (complete, grid, sum): (ChunkBitmap, ChunkGrid?, (Int) -> ExpectedSum?)
    switch output {
    case .part(let part):
      (complete, grid) = part.completeChunks
      sum = { part.expectedSum(ofChunk: $0).map { ExpectedSum(seed: $0.seed, value: $0.value) } }
    case .stream(let sink):
      let sums = sink.sums
      (complete, grid) = (sums.complete, sums.grid)
      sum = { sums.expected(ofChunk: $0) }
    case .complete: return nil
    }
    guard let grid else { return nil }
    var wanted: [Int: ExpectedSum] = [:]
    for chunk in SampleChunks.choose(from: complete, dice: .random(in: 0..<1)) { wanted[chunk] = sum(chunk) }
    return ChunkComparison(wanted, grid: grid)
  }

  /// The chosen chunks have come. From here on the place is asked if they are equal.
  func judgePlace(now: Double) {
    let isEqual = comparison?.isEqual == true
    if isEqual, let otherRoute {
      comparedChunks += comparison?.count ?? 0
      notice(
        .continuingFromOtherSource(source: route.url.source.text, comparedChunks: comparison?.count ?? 0))
      route = otherRoute
    }
    (comparison, otherRoute) = (nil, nil)
    machine?.compared(isEqual: isEqual, now: now, dice: .random(in: 0..<1))
    share.mail.wakeUpAgain()
  }
}
