// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A folder of our own in TMPDIR.
struct TemporaryFolder {
  let path: String

  /// - Parameters:
  ///   - purpose: goes into the name.
  ///   - room: for the error, as people say it.
  init(for purpose: String, room: String) throws {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/haul-\(purpose)-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw ValidationError(
        "No temporary folder could be made in \(base); set TMPDIR to one with \(room) of room.")
    }
    path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  func remove(files: [String]) {
    for file in files {
      unlink("\(path)/\(file)")
      unlink("\(path)/\(file).haul-part")
      unlink("\(path)/\(file).haul")
    }
    rmdir(path)
  }
}
