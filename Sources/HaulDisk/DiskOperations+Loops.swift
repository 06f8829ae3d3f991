// SPDX-License-Identifier: Apache-2.0

extension DiskOperations {
  /// Writes all bytes: the one place where a short write is continued.
  func writeFully(_ bytes: UnsafeRawBufferPointer, to file: DiskFile, at offset: Int) throws(DiskError) {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      let written = try write(rest, to: file, at: offset + done)
      // A write that takes nothing and says nothing would loop for ever.
      guard written > 0 else {
        throw DiskError("write to", file.path, code: 0, kind: .io, detail: "no progress")
      }
      done += written
    }
  }

  func writeFully(_ bytes: [UInt8], to file: DiskFile, at offset: Int) throws(DiskError) {
    try bytes.withUnsafeBufferPointer { (buffer) throws(DiskError) in
      try writeFully(UnsafeRawBufferPointer(buffer), to: file, at: offset)
    }
  }

  /// Fills the buffer as far as the file goes; returns the number of bytes read.
  func readFully(
    into buffer: UnsafeMutableRawBufferPointer, from file: DiskFile, at offset: Int
  ) throws(DiskError) -> Int {
    var done = 0
    while done < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
      let count = try read(into: rest, from: file, at: offset + done)
      if count == 0 { break }
      done += count
    }
    return done
  }

  /// Up to `count` bytes from `offset`; fewer where the file ends before.
  func readBytes(_ count: Int, from file: DiskFile, at offset: Int) throws(DiskError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = try bytes.withUnsafeMutableBufferPointer { (buffer) throws(DiskError) in
      try readFully(into: UnsafeMutableRawBufferPointer(buffer), from: file, at: offset)
    }
    bytes.removeLast(count - got)
    return bytes
  }

  /// Removes a name that is still the given file; leaves anything that has taken its place.
  func unlink(_ name: String, in directory: DiskFile, ifStill status: FileStatus) throws(DiskError) {
    guard let named = try self.status(at: name, in: directory), named.isSameFile(as: status) else { return }
    try unlink(name, in: directory)
  }
}
