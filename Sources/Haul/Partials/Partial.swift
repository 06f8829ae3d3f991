// SPDX-License-Identifier: Apache-2.0

/// What a download has left that is not complete: its part, its manifest, or both.
public struct Partial: Sendable, Equatable {
  /// What can be done with it.
  public enum State: Sendable, Equatable {
    /// The same download goes on from it.
    case resumable
    /// A process holds its lock now.
    case running(process: Int32)
    /// It was complete and did not have its digest: it goes on only with another digest, or is started over.
    case digestDiffered
    /// Its manifest is Haul's, but nothing can be learned from it: a download starts over. Why is for people.
    case damaged(why: String)
    /// A part alone: a download starts over.
    case withoutManifest
    /// A manifest alone: a download starts over.
    case withoutPart
    /// The finished file is there. A stop came before the last of its names beside it were cleared away.
    case finished
    /// Something under its names is not Haul's, or is one of a later version: it is left alone. Why is for people.
    case foreign(why: String)
  }

  /// The folder, as it was given.
  public var directory: String
  /// The name that the finished file is to have.
  public var name: String
  /// What can be done with it.
  public var state: State
  /// The length of the part file in bytes, or nil where there is none. It may have been set aside beforehand.
  public var partBytes: Int?
  /// What part and manifest take of the disk, in bytes.
  public var allocatedBytes: Int
  /// What the manifest says; nil without a readable one.
  public var manifest: PartialManifest?

  /// Where the part file stands, or would.
  public var partPath: String { path + ".haul-part" }
  /// Where the manifest stands, or would.
  public var manifestPath: String { path + ".haul" }
  /// Where the finished file is to be.
  public var path: String {
    directory == "." ? name : directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
  }
}

/// What the manifest of a partial file says.
public struct PartialManifest: Sendable, Equatable {
  /// What tells one version of the file from another.
  public enum Validator: String, Sendable {
    /// Nothing does: the download goes on only with a digest, or if it is forced to.
    case none
    /// A strong ETag.
    case strongETag = "strong-etag"
    /// The time of the last modification.
    case lastModified = "last-modified"
  }

  /// One of the two places for a state.
  public struct Slot: Sendable, Equatable {
    /// "A" or "B".
    public var name: String
    /// Counts the states; nil where the slot holds none that is valid.
    public var sequence: Int?
  }

  /// Origin and path of the URL that it was begun from, without user info and query. It has no control characters.
  /// Nil where it is not known; `sha256:` and a hash where it was too long to store.
  public var source: String?
  /// How the version of the file is known.
  public var validator: Validator
  /// Of the whole file, in bytes.
  public var length: Int
  /// In bytes; the last chunk may be shorter.
  public var chunkSize: Int
  /// How many chunks there are.
  public var chunkCount: Int
  /// Runs of chunks that are on stable storage, half-open, ascending.
  public var durableChunks: [Range<Int>]
  /// Runs of chunks that were written and not yet made durable, half-open, ascending: their content is compared
  /// with their sums before it counts.
  public var writtenChunks: [Range<Int>]
  /// Bytes on stable storage, the beginnings of unfinished chunks included.
  public var durableBytes: Int
  /// Bytes in ``writtenChunks``.
  public var writtenBytes: Int
  /// When it was begun, in seconds since 1970, by the clock of then.
  public var created: Int
  /// When the manifest was written to last, in seconds since 1970.
  public var lastWritten: Int
  /// The digest that the finished file must have.
  public var expected: Checksum?
  /// Whether the last run has ended in order.
  public var hasStoppedCleanly: Bool
  /// Whether the complete file did not have its digest.
  public var digestDiffered: Bool
  /// Whether it was written without waiting for the disk, so that only sums count.
  public var isUnsynced: Bool
  /// Both slots.
  public var slots: [Slot]
  /// The name of the slot that counts, or nil where none is valid and only sums do.
  public var countingSlot: String?
}
