// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension Terminal {
  /// Columns of the terminal behind standard output, or 80.
  static var outputColumns: Int {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }
}

extension PartialReport {
  /// For the terminal and the time that there are.
  static var now: PartialReport {
    PartialReport(now: Int(time(nil)), columns: Terminal.outputColumns, usesBlocks: Terminal.isUTF8)
  }
}
