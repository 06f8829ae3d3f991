// SPDX-License-Identifier: Apache-2.0

internal import HaulDigest
internal import HaulDisk
internal import HaulPlatform

/// A part file as its hasher sees it.
struct PartPrefix: PrefixSource {
  let part: PartFile
  let generation: Int
  let lane: DiskLane
  let mail: EngineMail
  let driver: Int

  func next(after offset: Int) -> PrefixStep {
    switch part.waitForFrontier(beyond: offset, generation: generation) {
    case .ready(let end): .ready(upTo: end)
    case .complete: .complete
    case .cancelled: .cancelled
    }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DigestError) {
    do throws(DiskError) {
      try part.read(into: buffer, at: offset)
    } catch {
      throw .unreadable(offset: offset, code: error.code)
    }
  }

  func sum(ofChunk index: Int) -> ExpectedSum? {
    part.expectedSum(ofChunk: index).map { ExpectedSum(seed: $0.seed, value: $0.value) }
  }

  /// Strikes the chunk out on the committer and waits for that: until then the frontier still stands behind it,
  /// and the hasher would be handed the same bytes again.
  func distrust(chunk index: Int) {
    let done = Monitor(false)
    lane.committer.submit {
      do throws(DiskError) {
        try part.distrust([index])
        mail.post(.damaged([index]), to: driver)
      } catch {
        mail.post(.writeFailed(error), to: driver)
      }
      done.signal { $0 = true }
    }
    done.wait { $0 ? () : nil }
  }
}
