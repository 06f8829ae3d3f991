// SPDX-License-Identifier: Apache-2.0

package import HaulCore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The digests of a file that is there already.
package enum FileDigest {
  /// Reads a whole regular file once. Blocks: a thread of its own is the right place.
  /// - Throws: ``DigestError`` where it cannot be read to its end.
  package static func compute(
    _ algorithms: Set<DigestAlgorithm>, ofFileAt path: String
  ) throws(DigestError) -> (length: Int, digests: DigestSet) {
    try compute(algorithms, ofFileAt: path) { _ in true } ?? (0, DigestSet())
  }

  /// The same, for a file that somebody waits for.
  /// - Parameter goesOn: told how many bytes are done, after every piece; false ends the reading.
  /// - Returns: nil where it was ended.
  package static func compute(
    _ algorithms: Set<DigestAlgorithm>, ofFileAt path: String, _ goesOn: (Int) -> Bool
  ) throws(DigestError) -> (length: Int, digests: DigestSet)? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .unreadable(offset: 0, code: errno) }
    defer { close(descriptor) }
    let digests = try Digest.of(algorithms)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
    defer { buffer.deallocate() }
    var length = 0
    while true {
      let count = read(descriptor, buffer.baseAddress, buffer.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw .unreadable(offset: length, code: errno) }
      if count == 0 { return (length, DigestSet(finishing: digests)) }
      let piece = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      for digest in digests { digest.update(piece) }
      length += count
      if !goesOn(length) { return nil }
    }
  }
}
