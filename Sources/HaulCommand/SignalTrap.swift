// SPDX-License-Identifier: Apache-2.0

import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Turns Ctrl-C and SIGTERM into a call in an ordinary place, where everything is allowed.
///
/// The main thread does nothing but wait for them. It must not be left to an asynchronous `main`: on Linux
/// libdispatch then parks it with an empty signal mask, and the first Ctrl-C would end the process at once.
enum SignalTrap {
  private static let first = Atomic<Int32>(0)
  private static let current = Mutex<(@Sendable () -> Void)?>(nil)

  /// Blocks both signals and ignores SIGPIPE, for this thread and all that it starts. To be called before any
  /// other thread is there.
  static func prepare() {
    signal(SIGPIPE, SIG_IGN)
    var set = trapped
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// The signal that has come, or 0.
  static var received: Int32 { first.load(ordering: .acquiring) }

  /// Calls `action` when the first signal comes, or now where it has come already.
  static func onInterrupt(_ action: @escaping @Sendable () -> Void) {
    current.withLock { $0 = action }
    // The trap notes the signal before it looks for an action, so one of both sees the other.
    if received != 0 { action() }
  }

  /// Waits for signals for ever. Without an action there is nothing to keep, and after the first signal the
  /// second one is meant: then the process leaves at once, which is safe, as a kill at any moment is.
  static func run() -> Never {
    var set = trapped
    while true {
      var number: Int32 = 0
      guard sigwait(&set, &number) == 0 else { continue }
      let (isFirst, _) = first.compareExchange(expected: 0, desired: number, ordering: .acquiringAndReleasing)
      guard isFirst, let action = current.withLock({ $0 }) else { _exit(128 + number) }
      action()
    }
  }

  private static var trapped: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGINT)
    sigaddset(&set, SIGTERM)
    return set
  }
}
