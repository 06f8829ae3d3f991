// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDigest
internal import HaulDisk

/// A part that did not have an earlier digest, and may have the one that is wanted now.
extension Driver {
  /// Hashes the whole part: if it has the digest it is finished, without a request.
  func prove(
    _ part: PartFile, length: Int, _ wanted: ExpectedDigest, otherwise error: DownloadError
  ) {
    let proof = PartProof(part: part, length: length, algorithms: neededDigests)
    self.proof = proof
    let (mail, id) = (share.mail, id)
    proof.start { mail.post(.proven($0, otherwise: error), to: id) }
  }

  func proven(_ digests: DigestSet, otherwise error: DownloadError) {
    hashedBytes = proof?.hashedBytes ?? 0
    proof = nil
    guard stage == .opening, case .part(let part)? = output, let wanted = plan.wanted, let memory else {
      return stopIfPending()
    }
    guard digests[wanted.algorithm] == wanted.bytes else {
      part.close()
      return end(.failure(error))
    }
    hasherOutcome = .digests(digests)
    resumedBytes = memory.state.header.grid.length
    notice(.resuming(bytes: resumedBytes))
    publishName(of: part) { () throws(DiskError) in try part.adoptProven() }
  }
}
