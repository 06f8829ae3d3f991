// SPDX-License-Identifier: Apache-2.0

/// The digests of one file, at most one of each algorithm.
package struct DigestSet: Equatable, Sendable {
  private var digests: [DigestAlgorithm: [UInt8]] = [:]

  package init() {}

  package subscript(_ algorithm: DigestAlgorithm) -> [UInt8]? {
    get { digests[algorithm] }
    set { digests[algorithm] = newValue }
  }

  package var isEmpty: Bool { digests.isEmpty }

  /// All of them, strongest first.
  package var all: [ExpectedDigest] {
    DigestAlgorithm.allCases.compactMap { algorithm in
      digests[algorithm].flatMap { ExpectedDigest(algorithm, $0) }
    }
  }
}
