// SPDX-License-Identifier: Apache-2.0

/// What the responses of one generation have declared so far, and which of it counts.
///
/// A field that says two things counts for nothing: it probably holds the digest of each part. The old `Digest`
/// is misused so often that a part's counts only once the response for another range says the same.
package struct DigestLedger: Equatable, Sendable {
  private struct Key: Hashable {
    let field: DigestField
    let algorithm: DigestAlgorithm
  }

  private struct Entry: Equatable {
    let digest: ExpectedDigest
    /// The range of the first response, while it alone would not do.
    var awaitsOther: ByteRange?
    var isDisputed = false
  }

  private var entries: [Key: Entry] = [:]

  package init() {}

  /// - Parameter range: the bytes that the response brings, or nil where it brings the whole file.
  package mutating func note(_ digests: ServerDigests, range: ByteRange?) {
    for declared in digests.declared {
      let key = Key(field: declared.field, algorithm: declared.digest.algorithm)
      guard var entry = entries[key] else {
        let waits = declared.field == .digest ? range : nil
        entries[key] = Entry(digest: declared.digest, awaitsOther: waits)
        continue
      }
      if entry.digest != declared.digest { entry.isDisputed = true }
      if let first = entry.awaitsOther, range != first { entry.awaitsOther = nil }
      entries[key] = entry
    }
  }

  /// The declared digest to compare with, best first: of an algorithm in `algorithms`, undisputed, and not
  /// contradicted by another field of its algorithm.
  package func best(among algorithms: [DigestAlgorithm] = DigestAlgorithm.allCases) -> DeclaredDigest? {
    best(in: algorithms) { $0.awaitsOther == nil }
  }

  /// The algorithm that will be needed if nothing else is heard: also where a second response is awaited.
  package var neededAlgorithm: DigestAlgorithm? {
    best(in: DigestAlgorithm.allCases) { _ in true }?.digest.algorithm
  }

  /// What may stand for the identity of the file.
  package var identity: ExpectedDigest? {
    let identities = DigestField.allCases.filter(\.isIdentity)
    for algorithm in DigestAlgorithm.allCases where !algorithm.isWeak {
      guard let best = best(among: [algorithm]), identities.contains(best.field) else { continue }
      return best.digest
    }
    return nil
  }

  private func best(
    in algorithms: [DigestAlgorithm], where counts: (Entry) -> Bool
  ) -> DeclaredDigest? {
    // What an earlier run has kept is the reason why its bytes are gone on from, so it decides alone.
    for algorithm in algorithms {
      guard let kept = entries[Key(field: .earlier, algorithm: algorithm)] else { continue }
      // Where the server says the same again, that is its word of today.
      let said = DigestField.allCases.first {
        let entry = entries[Key(field: $0, algorithm: algorithm)]
        return entry?.digest == kept.digest && entry?.isDisputed == false && entry?.awaitsOther == nil
      }
      return DeclaredDigest(kept.digest, in: said ?? .earlier)
    }
    for algorithm in DigestAlgorithm.allCases where algorithms.contains(algorithm) {
      let found = DigestField.allCases.compactMap { field -> DeclaredDigest? in
        guard let entry = entries[Key(field: field, algorithm: algorithm)], !entry.isDisputed, counts(entry)
        else { return nil }
        return DeclaredDigest(entry.digest, in: field)
      }
      // A server that contradicts itself has said nothing.
      if let first = found.first, found.allSatisfy({ $0.digest == first.digest }) { return first }
    }
    return nil
  }
}
