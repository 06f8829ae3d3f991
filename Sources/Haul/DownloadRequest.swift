// SPDX-License-Identifier: Apache-2.0

/// What to fetch and where to put it.
public struct DownloadRequest: Sendable {
  /// Where the bytes of a download go.
  public enum Output: Sendable, Equatable {
    /// A file in `directory`. Its name is the last path component of the URL, else what the server suggests
    /// (Content-Disposition, RFC 6266), made safe in either case.
    case directory(String)
    /// This path. A FIFO, a device or `/dev/null` that is there already gets the bytes in order, over one
    /// connection, without a manifest.
    case file(String)
  }

  /// An absolute http or https URL. User info in it is sent to its own origin only and never stored.
  public var url: String
  /// Where the bytes go.
  public var output: Output
  /// The digest that the file must have, from somewhere other than the server that is asked.
  public var checksum: Checksum?
  /// Further header lines, "Name: value". They go to the URL's own origin only, never along a redirect to
  /// another one.
  public var headers: [String]
  /// Who asks. It goes to the URL's own origin only, and wins over user info in the URL.
  public var login = Login.none
  /// A partial file of another program (curl, wget, a browser) to go on from, in the folder of ``output``, which has
  /// to be a ``Output/file(_:)``. It is compared with the server block by block of a sample: one chunk of each 64 MiB,
  /// the first and the last. If they are equal it becomes the part of this download; until then it stays as it was.
  /// The rest of it is only proven by a digest.
  public var adopted: String?
  /// How it is fetched.
  public var options: DownloadOptions

  /// Credentials for Basic authentication.
  public enum Login: Sendable, Equatable {
    /// None but those in the URL.
    case none
    /// This name, without a colon, and this password.
    case basic(user: String, password: String)
    /// The text of a `.netrc` file: its entry for the URL's host counts, and only where the URL has no user info.
    /// An entry `default` never does. With a `user` there must be an entry of that name.
    case netrc(text: String, user: String? = nil)
  }

  /// Describes a download. Nothing is checked here: ``Downloader/start(_:)`` reports what is wrong.
  public init(
    url: String, output: Output = .directory("."), checksum: Checksum? = nil, headers: [String] = [],
    options: DownloadOptions = DownloadOptions()
  ) {
    self.url = url
    self.output = output
    self.checksum = checksum
    self.headers = headers
    self.options = options
  }

  /// The same with a SHA-256 as 64 hexadecimal digits in either case.
  public init(
    url: String, output: Output = .directory("."), sha256: String?, headers: [String] = [],
    options: DownloadOptions = DownloadOptions()
  ) {
    self.init(
      url: url, output: output, checksum: sha256.map { Checksum(.sha256, hex: $0) }, headers: headers,
      options: options)
  }
}

/// How a file is fetched. Every default is the safe one.
public struct DownloadOptions: Sendable {
  /// How many connections are kept busy.
  public enum Connections: Sendable, Equatable {
    /// As many as pay, found by trying.
    case automatic
    /// This many, 1 ... 256.
    case fixed(Int)
  }

  /// What is made of the digests that a server itself declares for the whole file (`Repr-Digest`, `Digest`,
  /// `X-Linked-Etag`, `x-amz-checksum-sha256`, `x-goog-hash`) or for one answer (`Content-Digest`).
  public enum ServerDigests: Sendable, Equatable {
    /// They are compared where they came over https, if a digest is computed at all.
    case automatic
    /// They are compared, over http too.
    case used
    /// Nobody looks at them.
    case ignored
  }

  /// What is done when the disk has no more room for bytes that come (ENOSPC, EDQUOT). A disk that is too small
  /// from the beginning is always an error, before anything is fetched.
  public enum FullDisk: Sendable, Equatable {
    /// Everything that came is kept, and the download ends with an error.
    case fails
    /// Nothing more is read from the network; as soon as there is room again, the download goes on.
    case waits
  }

  /// How many connections are kept busy.
  public var connections: Connections = .automatic
  /// How many runs of attempts in a row may bring not one new byte, 0 ... 1000.
  public var retries = 5
  /// Name look-up, TCP and TLS of one connection together, in seconds, above 0.
  public var connectTimeout = 30.0
  /// Seconds without a byte after which a connection is replaced, above 0.
  public var silenceTimeout = 30.0
  /// PEM file of the certificates to trust, or nil for the system's.
  public var caFile: String?
  /// Whether what is finished is on stable storage before it is called finished. Without it a power loss can
  /// take everything since the last write-back, a finished file included.
  public var isDurable = true
  /// Whether the SHA-256 is computed while the file arrives. Always done where a digest was given.
  public var computesDigest = true
  /// What is done when the disk has no more room.
  public var onFullDisk: FullDisk = .fails
  /// What is made of digests that the server declares. Where ``DownloadRequest/checksum`` is given, only that
  /// decides about the whole file.
  public var serverDigests: ServerDigests = .automatic
  /// Replace a file that is there, and start over a partial that belongs to another source.
  public var overwrites = false
  /// Accept a body whose end cannot be told from a cut connection.
  public var acceptsUnframed = false
  /// Follow a redirect from https down to http. Headers and credentials never go along.
  public var allowsDowngrade = false
  /// Whether a file that turns out to have changed on the server is begun anew, once. False makes it an error
  /// that keeps what was there.
  public var restartsOnChange = true
  /// Go on from what an earlier run left although the server gives no validator, so that nobody can tell
  /// whether it is still the same file. Only its length is compared.
  public var forcesResume = false
  /// A longer file is an error, in bytes: for texts that are read into memory.
  package var mostBytes: Int?
  /// Seconds for which a connection may be far behind the others before it is replaced.
  package var paceTimeout = 4.0
  /// How long an interruption waits for the disk, in seconds. Only tests have more of it.
  package var stopPatience = 2.0
  /// The User-Agent field.
  public var userAgent = "haul/\(HaulVersion.current)"

  /// The defaults.
  public init() {}
}
