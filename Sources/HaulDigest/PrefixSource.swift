// SPDX-License-Identifier: Apache-2.0

/// How the file has grown behind what was hashed.
package enum PrefixStep: Equatable, Sendable {
  /// The bytes before `upTo`, which lies behind the offset that was asked for, may be read.
  case ready(upTo: Int)
  /// The file ends at the offset that was asked for.
  case complete
  case cancelled
}

/// The sum that a chunk must have, with the seed that it was made with.
package struct ExpectedSum: Equatable, Sendable {
  package let seed: UInt64
  /// Never 0: a sum that comes out as 0 is kept as 1.
  package let value: UInt64

  package init(seed: UInt64, value: UInt64) {
    self.seed = seed
    self.value = value
  }
}

/// The growing file that a ``FrontierHasher`` follows. All methods are called on the hasher's own thread.
///
/// Bytes that were handed out stay as they are, and stay handed out, until their chunk is distrusted. Whoever
/// takes them back for another reason, such as a new generation, calls the work off first.
package protocol PrefixSource: Sendable {
  /// Blocks until there are bytes after `offset` to hash, the file is complete at `offset`, or the work was
  /// called off.
  func next(after offset: Int) -> PrefixStep
  /// Reads exactly `buffer.count` bytes. Throws when the file cannot be read.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DigestError)
  /// The chunk sum that the whole chunk at `index` must have, with the seed, or nil where none is known.
  func sum(ofChunk index: Int) -> ExpectedSum?
  /// The bytes of `index` do not have their sum: fetch them again. The prefix then ends before it until they
  /// came.
  func distrust(chunk index: Int)
}
