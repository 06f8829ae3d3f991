// SPDX-License-Identifier: Apache-2.0

import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Turns Ctrl-C and SIGTERM into a call on a thread of its own, where everything is allowed.
final class SignalTrap: Sendable {
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

  /// Calls `action` when the first signal comes; at the second one the process leaves at once, which is safe: a
  /// kill at any moment is.
  static func onInterrupt(_ action: @escaping @Sendable () -> Void) {
    let isFirst = current.withLock { held in
      defer { held = action }
      return held == nil
    }
    guard isFirst else { return }
    var thread = pthread_t(bitPattern: 0)
    #if canImport(Glibc)
    pthread_create(&thread, nil, { _ in SignalTrap.wait() }, nil)
    #else
    pthread_create(&thread, nil, { _ in SignalTrap.wait() }, nil)
    #endif
  }

  private static var trapped: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGINT)
    sigaddset(&set, SIGTERM)
    return set
  }

  private static func wait() -> UnsafeMutableRawPointer? {
    var set = trapped
    while true {
      var number: Int32 = 0
      guard sigwait(&set, &number) == 0 else { continue }
      let (isFirst, _) = first.compareExchange(expected: 0, desired: number, ordering: .acquiringAndReleasing)
      if !isFirst { _exit(128 + number) }
      current.withLock { $0 }?()
    }
  }
}
