// SPDX-License-Identifier: Apache-2.0

import Haul

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file that a person keeps secrets in, read whole.
struct SecretFile {
  /// Its text: at most ``mostBytes``.
  let text: String
  /// Whether others may read it as well; false for anything but a regular file, such as a pipe.
  let isOpenToOthers: Bool

  /// More is no file of headers or passwords.
  static let mostBytes = 64 * 1024

  /// - Throws: ``SecretFileError``, which names the path and never the content.
  init(path: String) throws(SecretFileError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw SecretFileError(path: path, why: Self.reason(errno)) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SecretFileError(path: path, why: Self.reason(errno)) }
    isOpenToOthers = status.st_mode & S_IFMT == S_IFREG && status.st_mode & 0o077 != 0
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16 * 1024)
    while bytes.count <= Self.mostBytes {
      let count = read(descriptor, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw SecretFileError(path: path, why: Self.reason(errno)) }
      if count == 0 { break }
      bytes += piece[..<count]
    }
    guard bytes.count <= Self.mostBytes else {
      throw SecretFileError(path: path, why: "it is longer than 64 KiB")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw SecretFileError(path: path, why: "it is not UTF-8")
    }
    self.text = text
  }

  /// Why a file cannot be opened for reading; nil where it can.
  static func problem(reading path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else { return reason(errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return reason(errno) }
    return status.st_mode & S_IFMT == S_IFDIR ? "it is a folder" : nil
  }

  private static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
}

/// A file of secrets that could not be read.
struct SecretFileError: Error, Equatable {
  let path: String
  let why: String
}
