// SPDX-License-Identifier: Apache-2.0

internal import HaulCore

/// How far the page cache has been told to let go of a file, from its start.
struct CacheTrail: Equatable {
  /// Everything before was asked for once, and its write-back has begun.
  private(set) var asked = 0
  /// Everything before was asked for while it was clean.
  private(set) var released = 0

  /// The range to let go of now, where all before `end` is needed no more; nil where there is nothing new.
  /// - Parameter synced: whether it is on stable storage. What is not may still be dirty, and dirty pages stay:
  ///   those are asked for once more the next time.
  mutating func release(upTo end: Int, synced: Bool) -> ByteRange? {
    guard end > asked else { return nil }
    let range = ByteRange(synced ? asked : released, end)
    (released, asked) = (synced ? end : asked, end)
    return range
  }
}
