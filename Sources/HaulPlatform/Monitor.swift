// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A value behind a lock, with a condition to wait on: what `Mutex` of the standard library cannot do.
///
/// Any thread may call any method; none may be called from inside another's closure.
///
/// Unchecked, because the compiler cannot see that `state` is touched only between `lock` and `unlock`: every
/// access in this file is inside `withLock` or `wait`, and the pointers never leave it.
package final class Monitor<State>: @unchecked Sendable {
  private var state: State
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  package init(_ state: sending State) {
    self.state = state
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    condition = .allocate(capacity: 1)
    condition.initialize(to: pthread_cond_t())
    // Waits with an end must not depend on the wall clock, which may jump.
    #if canImport(Glibc)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
    #else
    pthread_cond_init(condition, nil)
    #endif
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  package func withLock<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&state)
  }

  /// Changes the state and wakes everybody who waits.
  package func signal<Result>(_ body: (inout State) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    let result = body(&state)
    pthread_cond_broadcast(condition)
    return result
  }

  /// Waits until `body` returns a value; it is asked again after every ``signal(_:)``.
  package func wait<Result>(_ body: (inout State) -> Result?) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&state) { return result }
      pthread_cond_wait(condition, mutex)
    }
  }

  /// Waits for at most `seconds` until `body` returns true.
  package func wait(seconds: Double, _ body: (inout State) -> Bool) -> Bool {
    let deadline = monotonicSeconds() + seconds
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if body(&state) { return true }
      let left = deadline - monotonicSeconds()
      if left <= 0 { return false }
      #if canImport(Glibc)
      var end = timespec(tv_sec: Int(deadline), tv_nsec: Int((deadline - deadline.rounded(.down)) * 1e9))
      pthread_cond_timedwait(condition, mutex, &end)
      #else
      var span = timespec(tv_sec: Int(left), tv_nsec: Int((left - left.rounded(.down)) * 1e9))
      pthread_cond_timedwait_relative_np(condition, mutex, &span)
      #endif
    }
  }
}
