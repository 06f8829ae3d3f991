// SPDX-License-Identifier: Apache-2.0

internal import HaulDisk
internal import HaulPlatform
private import Synchronization

/// Looks at chunks that were written but not committed when the last run was killed. What their sums prove
/// counts as written; the others are fetched again. Runs on a thread of its own, beside the download.
final class Rescue: Sendable {
  private let part: PartFile
  private let chunks: [Int]
  private let isCancelled = Atomic<Bool>(false)

  init(part: PartFile, chunks: [Int]) {
    self.part = part
    self.chunks = chunks
  }

  func cancel() { isCancelled.store(true, ordering: .relaxed) }

  /// Posts ``DriverEvent/damaged(_:)`` for the chunks that failed and at last ``DriverEvent/rescueEnded(_:)``.
  func start(committer: Worker, post: @escaping @Sendable (DriverEvent) -> Void) {
    startThread(name: "haul-rescue") { [self] in
      let failed: [Int]
      do throws(DiskError) {
        failed = try prove()
      } catch {
        return post(.rescueEnded(.failure(error)))
      }
      if failed.isEmpty { return post(.rescueEnded(.success(()))) }
      committer.submit { [part] in
        do throws(DiskError) {
          try part.distrust(failed)
          post(.damaged(failed))
          post(.rescueEnded(.success(())))
        } catch {
          post(.rescueEnded(.failure(error)))
        }
      }
    }
  }

  private func prove() throws(DiskError) -> [Int] {
    // What a failed write-back left clean in the page cache is not on the disk: read it from there.
    try part.prepareRescue()
    var failed: [Int] = []
    for chunk in chunks {
      if isCancelled.load(ordering: .relaxed) { return [] }
      if try part.proveRescuable(chunk) { part.confirmRescued([chunk]) } else { failed.append(chunk) }
    }
    return failed
  }
}
