// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension SignalTrap {
  /// Lets the first signal end the process: for commands that may be stopped anywhere.
  static func leaveOnInterrupt() { onInterrupt { _exit(128 + received) } }
}
