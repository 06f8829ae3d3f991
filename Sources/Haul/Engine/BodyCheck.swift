// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDigest

/// The digest that one answer must have by its own Content-Digest (RFC 9530), computed as its bytes are written.
///
/// Unchecked, because after its creation only the writer's jobs touch it, one after the other.
final class BodyCheck: @unchecked Sendable {
  /// The bytes of the file that the answer brings. Only the whole of them can be judged.
  let range: ByteRange
  private let wanted: ExpectedDigest
  private let digest: Digest
  private var position: Int

  /// Nil where the algorithm is not offered here.
  init?(_ range: ByteRange, wanted: ExpectedDigest) {
    guard let digest = try? Digest(wanted.algorithm) else { return nil }
    self.range = range
    self.wanted = wanted
    self.digest = digest
    position = range.lower
  }

  /// Takes the next bytes; false where they were the last and the digest is another one. On the writer's thread.
  func accepts(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
    // What was dropped on the way, or goes past the end, leaves it unjudged for good.
    guard offset == position, offset + bytes.count <= range.upper else { return true }
    digest.update(bytes)
    position += bytes.count
    return position < range.upper || digest.finish() == wanted.bytes
  }
}
