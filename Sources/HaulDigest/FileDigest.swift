// SPDX-License-Identifier: Apache-2.0

private import HaulCore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The digest of a file that is there already.
package enum FileDigest {
  /// Reads a whole regular file. Blocks: a thread of its own is the right place.
  /// - Throws: ``DigestError`` where it cannot be read to its end.
  package static func sha256(ofFileAt path: String) throws(DigestError) -> (length: Int, sha256: [UInt8]) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .unreadable(offset: 0, code: errno) }
    defer { close(descriptor) }
    let digest = try Digest(.sha256)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
    defer { buffer.deallocate() }
    var length = 0
    while true {
      let count = read(descriptor, buffer.baseAddress, buffer.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw .unreadable(offset: length, code: errno) }
      if count == 0 { return (length, digest.finish()) }
      digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      length += count
    }
  }
}
