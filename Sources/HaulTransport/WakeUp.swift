// SPDX-License-Identifier: Apache-2.0

private import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Wakes a loop that sleeps in `poll` from any thread: a pipe that holds at most one byte.
package final class WakeUp: Sendable {
  let readDescriptor: Int32
  private let writeDescriptor: Int32
  /// Set while a byte is on its way, so that a burst of calls costs one system call.
  private let pending = Atomic<Bool>(false)

  /// Nil where the system has no descriptors left.
  package init?() {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    readDescriptor = ends[0]
    writeDescriptor = ends[1]
  }

  deinit {
    close(readDescriptor)
    close(writeDescriptor)
  }

  /// Ends the current or the next wait of the loop. Any thread.
  package func call() {
    guard !pending.exchange(true, ordering: .acquiringAndReleasing) else { return }
    var byte: UInt8 = 1
    _ = write(writeDescriptor, &byte, 1)
  }

  /// Takes the byte out, then lets the flag fall: whoever calls in between has posted before the loop looks into
  /// its mailbox. In the other order a byte could be taken out whose flag stays up, and every later call be lost.
  func drain() {
    var bytes: (UInt64, UInt64) = (0, 0)
    _ = withUnsafeMutableBytes(of: &bytes) { read(readDescriptor, $0.baseAddress, $0.count) }
    _ = pending.exchange(false, ordering: .acquiringAndReleasing)
  }
}
