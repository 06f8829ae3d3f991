// SPDX-License-Identifier: Apache-2.0

import Haul

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file that is there and can be read to its end.
enum FinishedFile {
  /// In bytes.
  /// - Throws: ``DownloadError/Code/disk`` where it is not there, or is something whose reading may never end.
  static func length(_ path: String) throws(DownloadError) -> Int {
    var status = stat()
    guard stat(path, &status) == 0 else {
      let isUnfinished = errno == ENOENT && access(path + ".haul-part", F_OK) == 0
      throw unreadable(
        path, isUnfinished ? "it is not finished yet" : String(cString: strerror(errno)),
        isUnfinished ? "fetch the rest first; haul inspect shows how far it is" : "check its name")
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return Int(status.st_size)
    case S_IFDIR: throw unreadable(path, "it is a folder", "name a file in it")
    default: throw unreadable(path, "it is not a regular file", "name a file")
    }
  }

  static func unreadable(_ path: String, _ why: String, _ advice: String) -> DownloadError {
    DownloadError(.disk, "\(path) cannot be read: \(why)", advice: advice)
  }
}
