// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Small things that tests do with files.
package enum Files {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String

    init(_ what: String, _ path: String) {
      description = "\(what) \(path): \(String(cString: strerror(errno)))"
    }
  }

  package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  package static func isExecutable(_ path: String) -> Bool { access(path, X_OK) == 0 }

  /// Bytes, or nil where there is no such file.
  package static func size(of path: String) -> Int? {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : nil
  }

  /// Names in a folder, sorted, without `.` and `..`.
  package static func names(in directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
        tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) {
          String(cString: $0)
        }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// Reads a file piece by piece, 1 MiB each but for the last.
  package static func read(_ path: String, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure("open", path) }
    defer { close(descriptor) }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      var count = 0
      while count < buffer.count {
        #if canImport(Glibc)
        let more = Glibc.read(descriptor, buffer.baseAddress! + count, buffer.count - count)
        #else
        let more = Darwin.read(descriptor, buffer.baseAddress! + count, buffer.count - count)
        #endif
        if more < 0 { throw Failure("read", path) }
        if more == 0 { break }
        count += more
      }
      if count > 0 { try body(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
      if count < buffer.count { return }
    }
  }

  package static func bytes(of path: String) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try read(path) { bytes.append(contentsOf: $0) }
    return bytes
  }

  package static func text(of path: String) throws -> String {
    String(decoding: try bytes(of: path), as: UTF8.self)
  }

  /// Creates or replaces a file with what `fill` provides, piece by piece.
  package static func write(
    _ path: String, length: Int, _ fill: (UnsafeMutableRawBufferPointer, _ offset: Int) -> Void
  ) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw Failure("create", path) }
    defer { close(descriptor) }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { buffer.deallocate() }
    var offset = 0
    while offset < length {
      let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, length - offset)])
      fill(piece, offset)
      var done = 0
      while done < piece.count {
        #if canImport(Glibc)
        let count = Glibc.write(descriptor, piece.baseAddress! + done, piece.count - done)
        #else
        let count = Darwin.write(descriptor, piece.baseAddress! + done, piece.count - done)
        #endif
        guard count > 0 else { throw Failure("write", path) }
        done += count
      }
      offset += piece.count
    }
  }

  package static func write(_ text: String, to path: String) throws {
    let bytes = Array(text.utf8)
    try write(path, length: bytes.count) { $0.copyBytes(from: bytes[$1..<$1 + $0.count]) }
  }
}
