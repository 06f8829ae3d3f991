// SPDX-License-Identifier: Apache-2.0

package import HaulPlatform
private import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The two threads of one filesystem: the writer only writes, the committer only syncs, creates and renames.
/// A disk that stands still so holds up its own downloads alone.
package final class DiskLane: Sendable {
  package let writer = Worker(name: "haul-writer")
  package let committer = Worker(name: "haul-commit")

  package init() {}

  deinit {
    writer.close()
    committer.close()
  }
}

/// One lane a filesystem, made when it is first needed. Any thread; `lane(for:)` asks the filesystem and so may
/// take as long as that.
package final class DiskLanes: Sendable {
  private let lanes = Mutex<[UInt64: DiskLane]>([:])

  package init() {}

  /// The lane of the filesystem that holds `directory`. A directory that cannot be looked at gets one as well:
  /// opening it will say what is wrong.
  package func lane(for directory: String) -> DiskLane {
    var status = stat()
    let device = stat(directory, &status) == 0 ? UInt64(status.st_dev) : UInt64.max
    return lanes.withLock { lanes in
      if let lane = lanes[device] { return lane }
      let lane = DiskLane()
      lanes[device] = lane
      return lane
    }
  }
}
