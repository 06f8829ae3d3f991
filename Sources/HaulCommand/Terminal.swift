// SPDX-License-Identifier: Apache-2.0

import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The three standard streams as the command uses them.
enum Terminal {
  static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  /// Columns of the terminal behind standard error, or 80.
  static var columns: Int {
    var size = winsize()
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// Whether block characters can be shown.
  static var isUTF8: Bool {
    for name in ["LC_ALL", "LC_CTYPE", "LANG"] {
      if let value = getenv(name), value[0] != 0 {
        let text = String(cString: value).lowercased()
        return text.contains("utf-8") || text.contains("utf8")
      }
    }
    return false
  }

  private static let summaryEnd = Atomic<Int32>(STDOUT_FILENO)

  /// The errno value of the first summary that could not be written, or 0.
  private static let summaryFailure = Atomic<Int32>(0)

  /// Prints a line of the summary, to standard output unless the file itself goes there.
  static func print(_ text: String) {
    let code = write(text + "\n", to: summaryEnd.load(ordering: .relaxed))
    // Whoever reads and has had enough (`head`) knows what he has done.
    if code != 0, code != EPIPE {
      _ = summaryFailure.compareExchange(expected: 0, desired: code, ordering: .relaxed)
    }
  }

  /// Why a summary has been lost, or nil.
  static var lostSummary: String? {
    let code = summaryFailure.load(ordering: .relaxed)
    return code == 0 ? nil : String(cString: strerror(code))
  }

  static func summariesGoToError() { summaryEnd.store(STDERR_FILENO, ordering: .relaxed) }

  /// Whether `path` leads to the very thing that standard output is.
  static func isStandardOutput(_ path: String) -> Bool {
    var named = stat()
    var output = stat()
    guard stat(path, &named) == 0, fstat(STDOUT_FILENO, &output) == 0 else { return false }
    return named.st_dev == output.st_dev && named.st_ino == output.st_ino
  }

  static func printError(_ text: String) { write(text + "\n", to: STDERR_FILENO) }

  /// Writes without a line end to standard error, in one call, so that nothing flickers.
  static func draw(_ text: String) { write(text, to: STDERR_FILENO) }

  /// The errno value of a failure, or 0.
  @discardableResult
  private static func write(_ text: String, to descriptor: Int32) -> Int32 {
    var text = text
    return text.withUTF8 { bytes in
      var done = 0
      while done < bytes.count {
        #if canImport(Glibc)
        let count = Glibc.write(descriptor, bytes.baseAddress! + done, bytes.count - done)
        #else
        let count = Darwin.write(descriptor, bytes.baseAddress! + done, bytes.count - done)
        #endif
        if count < 0 && errno == EINTR { continue }
        if count <= 0 { return count < 0 ? errno : EIO }
        done += count
      }
      return 0
    }
  }

  /// The process's environment, for proxies.
  static var environment: [String: String] {
    var result: [String: String] = [:]
    var entry = environ
    while let line = entry.pointee {
      let text = String(cString: line)
      if let equals = text.firstIndex(of: "=") {
        result[String(text[..<equals])] = String(text[text.index(after: equals)...])
      }
      entry += 1
    }
    return result
  }
}
