// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Reads the monotonic clock, in seconds since some fixed moment. It does not jump when the wall clock is set.
package func monotonicSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Reads the wall clock, in whole seconds since 1970.
package func wallClockSeconds() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_REALTIME, &time)
  return Int(time.tv_sec)
}
