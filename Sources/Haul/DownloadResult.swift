// SPDX-License-Identifier: Apache-2.0

/// A file that is complete under its final name.
public struct DownloadResult: Sendable, Equatable {
  /// What its digest is worth.
  public enum DigestStatus: Sendable, Equatable {
    /// Its SHA-256 or SHA-512 is the one that was given.
    case verified
    /// Its SHA-256 or SHA-512 is the one that the server itself declares in the header field `field`.
    case matchesServer(field: String)
    /// Its SHA-1 or MD5 is the one that was given or, where `field` is not nil, that the server declares. No
    /// accident, but no proof against forgery.
    case matchesWeak(field: String?)
    /// Only computed: it says what has arrived, not that it is right.
    case computed
    /// Not even computed, as was asked for.
    case none
  }

  /// Where the file is.
  public var path: String
  /// Its length in bytes.
  public var length: Int
  /// Its SHA-256 in lower-case hexadecimal digits, or nil where none was computed.
  public var sha256: String?
  /// The digest that was compared and found equal, or nil where nothing was compared.
  public var checksum: Checksum?
  /// What the digest is worth.
  public var digestStatus: DigestStatus
  /// Bytes that came over the network in this run, in bytes.
  public var receivedBytes: Int
  /// Bytes that an earlier run had left, in bytes.
  public var resumedBytes: Int
  /// From start to final name, in seconds.
  public var seconds: Double
  /// How often a request had to be repeated.
  public var retries: Int
  /// The most connections that were busy at once.
  public var connections: Int
  /// Whether it was there already, complete, with the digest that was given; nothing was fetched.
  public var wasComplete: Bool
  /// How many chunks were compared with this source before it completed what another one had begun; 0 where
  /// there was no other. The rest of the earlier bytes stands for itself unless a digest was given.
  public var comparedChunks = 0
  /// How many chunks of another program's partial file were taken over; ``comparedChunks`` of them were compared.
  public var adoptedChunks = 0
}

/// How far a download is. A consistent copy; ask as often as you like.
public struct DownloadProgress: Sendable, Equatable {
  /// What it is doing.
  public enum Phase: Sendable, Equatable {
    /// Opening its file, or waiting for the first answer.
    case starting
    /// Bytes are arriving.
    case fetching
    /// Every byte is here; the digest and the disk are catching up.
    case finishing
    /// The result is there.
    case ended
  }

  /// What it is doing.
  public var phase = Phase.starting
  /// The file's name, once it is known.
  public var name: String?
  /// The length in bytes, or nil while or where the server does not tell it.
  public var total: Int?
  /// Bytes received or kept from an earlier run, those still in memory included.
  public var received = 0
  /// Bytes in the file.
  public var written = 0
  /// Bytes that would survive a power loss. Stays 0 without durability.
  public var durable = 0
  /// Bytes that the digest has passed, from the front.
  public var hashed = 0
  /// Bytes kept from an earlier run.
  public var resumed = 0
  /// Connections with a request under way.
  public var connections = 0
  /// How often a request had to be repeated.
  public var retries = 0
  /// Why nothing arrives: the last failure, while it is waited for the next attempt. Nil otherwise. May contain
  /// text from a server.
  public var trouble: String?
  /// Whether an interruption now would leave something to go on from. Nil before it is known.
  public var canResume: Bool?
  /// Seconds during which the disk held up the network.
  public var diskWait = 0.0
}
