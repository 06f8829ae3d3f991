// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A state behind a lock, with waiting for a condition on it. Every access wakes the waiters, so that none
/// can be forgotten; there are few of them (tests, gates), so that this costs nothing.
///
/// Sendable because `state` and `waiters` are touched only while `mutex` is held.
final class Monitor<State: Sendable>: @unchecked Sendable {
  private var state: State
  private var waiters = 0
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let changed: UnsafeMutablePointer<pthread_cond_t>

  init(_ state: State) {
    self.state = state
    mutex = .allocate(capacity: 1)
    changed = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    #if canImport(Glibc)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(changed, &attributes)
    pthread_condattr_destroy(&attributes)
    #else
    pthread_cond_init(changed, nil)
    #endif
  }

  deinit {
    pthread_cond_destroy(changed)
    pthread_mutex_destroy(mutex)
    changed.deallocate()
    mutex.deallocate()
  }

  /// Runs `body` alone. It must not come back to this monitor.
  @discardableResult
  func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer {
      if waiters > 0 { pthread_cond_broadcast(changed) }
      pthread_mutex_unlock(mutex)
    }
    return body(&state)
  }

  /// Blocks the calling thread until `condition` holds or `nanoseconds` have passed; says whether it holds.
  func wait(nanoseconds: Int, until condition: (State) -> Bool) -> Bool {
    let deadline = Clock.monotonic() + nanoseconds
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while !condition(state) {
      if Clock.monotonic() >= deadline { return false }
      waiters += 1
      pause(until: deadline)
      waiters -= 1
    }
    return true
  }

  private func pause(until deadline: Int) {
    #if canImport(Glibc)
    var time = timespec(tv_sec: deadline / 1_000_000_000, tv_nsec: deadline % 1_000_000_000)
    pthread_cond_timedwait(changed, mutex, &time)
    #else
    let left = max(0, deadline - Clock.monotonic())
    var time = timespec(tv_sec: left / 1_000_000_000, tv_nsec: left % 1_000_000_000)
    pthread_cond_timedwait_relative_np(changed, mutex, &time)
    #endif
  }
}
