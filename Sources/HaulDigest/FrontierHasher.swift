// SPDX-License-Identifier: Apache-2.0

package import HaulCore
internal import HaulPlatform
internal import Synchronization

/// How the work of a ``FrontierHasher`` ended.
package enum HasherOutcome: Equatable, Sendable {
  /// Every known sum was right, and these are the digests of the whole file.
  case digests(DigestSet)
  /// Every known sum was right; no digest was asked for.
  case checked
  case cancelled
  case failed(DigestError)
}

/// Hashes a file while it grows, on a thread of its own: reads behind the frontier, checks each chunk's sum
/// on the very bytes that it hashes, and asks for a chunk again where they differ.
package final class FrontierHasher: Sendable {
  private let source: any PrefixSource
  private let grid: ChunkGrid?
  private let algorithms: Set<DigestAlgorithm>
  private let passed = Atomic(0)
  private let started = Atomic(false)

  /// - Parameters:
  ///   - grid: nil while the length is unknown; sums are then not checked.
  ///   - algorithms: all are computed in the same pass; none to check sums only.
  package init(source: any PrefixSource, grid: ChunkGrid?, algorithms: Set<DigestAlgorithm>) {
    self.source = source
    self.grid = grid
    self.algorithms = algorithms
  }

  /// The bytes that were checked and hashed so far. Any thread may ask.
  package var hashedBytes: Int { passed.load(ordering: .relaxed) }

  /// Starts the thread, once. `done` is called on it, once, as its last act.
  package func start(_ done: @escaping @Sendable (HasherOutcome) -> Void) {
    let wasStarted = started.exchange(true, ordering: .relaxed)
    precondition(!wasStarted, "a hasher is started once")
    startThread(name: "haul-digest") { done(self.run()) }
  }

  private func run() -> HasherOutcome {
    do {
      let pass = try HashPass(source: source, grid: grid, algorithms: algorithms)
      return try pass.run { self.passed.store($0, ordering: .relaxed) }
    } catch {
      return .failed(error)
    }
  }
}
