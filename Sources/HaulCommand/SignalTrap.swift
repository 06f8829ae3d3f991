// SPDX-License-Identifier: Apache-2.0

import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Turns Ctrl-C, SIGTERM and the hang-up of a terminal into a call on a thread of its own, where everything is allowed.
///
/// The handler itself only writes one byte into a pipe, whichever thread it interrupts. (Blocking the signals and
/// waiting for them would need every thread to block them, and those of the concurrency runtime do not.)
enum SignalTrap {
  private static let first = Atomic<Int32>(0)
  private static let pipeEnd = Atomic<Int32>(-1)
  private static let current = Mutex<(@Sendable () -> Void)?>(nil)

  /// Installs the handlers and ignores SIGPIPE, which is then an error of the write. Once, before anything else.
  static func prepare() {
    signal(SIGPIPE, SIG_IGN)
    var ends: [Int32] = [-1, -1]
    // Without descriptors nothing else will work either; the signals then end the process, which is safe.
    guard pipe(&ends) == 0 else { return }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    pipeEnd.store(ends[1], ordering: .sequentiallyConsistent)
    let readEnd = ends[0]
    var action = sigaction()
    #if canImport(Glibc)
    action.__sigaction_handler.sa_handler = { SignalTrap.tell($0) }
    #else
    action.__sigaction_u.__sa_handler = { SignalTrap.tell($0) }
    #endif
    action.sa_flags = Int32(SA_RESTART)
    for number in [SIGINT, SIGTERM, SIGHUP] where !isIgnored(number) { sigaction(number, &action, nil) }
    startTrapThread(readEnd)
  }

  /// Whoever started this process may want it to outlive a signal, as `nohup` does.
  private static func isIgnored(_ number: Int32) -> Bool {
    var present = sigaction()
    guard sigaction(number, nil, &present) == 0 else { return false }
    #if canImport(Glibc)
    let handler = present.__sigaction_handler.sa_handler
    #else
    let handler = present.__sigaction_u.__sa_handler
    #endif
    return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// The first signal that has come, or 0.
  static var received: Int32 { first.load(ordering: .acquiring) }

  /// Calls `action` when the first signal comes, or at once where it has come already. At the second one the
  /// process leaves at once, which is safe: a kill at any moment is.
  static func onInterrupt(_ action: @escaping @Sendable () -> Void) {
    current.withLock { $0 = action }
    if received != 0 { action() }
  }

  private static func tell(_ number: Int32) {
    // The interrupted code may be about to look at its own error number.
    let interrupted = errno
    defer { errno = interrupted }
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(pipeEnd.load(ordering: .sequentiallyConsistent), &byte, 1)
  }

  private static func startTrapThread(_ readEnd: Int32) {
    let context = UnsafeMutableRawPointer(bitPattern: Int(readEnd) + 1)
    #if canImport(Glibc)
    var thread = pthread_t()
    #else
    var thread: pthread_t?
    #endif
    pthread_create(&thread, nil, { SignalTrap.wait($0) }, context)
  }

  private static func wait(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    let readEnd = Int32(Int(bitPattern: context) - 1)
    var byte: UInt8 = 0
    while true {
      let count = read(readEnd, &byte, 1)
      if count < 0 && errno == EINTR { continue }
      guard count == 1 else { return nil }
      let number = Int32(byte)
      let (wasFirst, _) = first.compareExchange(
        expected: 0, desired: number, ordering: .sequentiallyConsistent)
      if !wasFirst { _exit(128 + number) }
      current.withLock { $0 }?()
    }
  }
}
