// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The permission bits that a finished file gets.
enum FileMode {
  /// What any program would give a new file: 0666 without the umask's bits. The umask can only be read by
  /// setting it, which is not safe beside other threads that create files, so it is read once, at the first use.
  static let ofNewFiles: UInt32 = {
    let mask = umask(0o077)
    umask(mask)
    return UInt32(0o666 & ~mask)
  }()
}
