// SPDX-License-Identifier: Apache-2.0

/// Why there is no file under the final name, what was kept, and what to do next.
public struct DownloadError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The class of an error. Open: later versions may add to it.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// A stable word for programs.
    public let description: String
    init(_ description: String) { self.description = description }

    /// The request makes no sense: URL, digest, header or option.
    public static let invalidRequest = Code("invalid-request")
    /// Names, connections, cuts, silence.
    public static let network = Code("network")
    /// The server said no.
    public static let refused = Code("refused")
    /// The file on the server is not the one that was begun.
    public static let changed = Code("changed")
    /// Every byte came, but not the right ones.
    public static let digestMismatch = Code("digest-mismatch")
    /// The disk or the filesystem failed or is full.
    public static let disk = Code("disk")
    /// Another process is fetching this file.
    public static let busy = Code("busy")
    /// A file with the final name is there already.
    public static let exists = Code("exists")
    /// The partial there belongs to something else.
    public static let occupied = Code("occupied")
    /// The server's answers are not what HTTP allows.
    public static let brokenProtocol = Code("broken-protocol")
    /// It was called off; what had come is kept.
    public static let interrupted = Code("interrupted")
    /// Anything else, such as no memory.
    public static let other = Code("other")
  }

  /// The class of the error.
  public var code: Code
  /// What failed, on which URL or path. May contain text from a server: escape it before a terminal sees it.
  public var message: String
  /// What is left to go on from.
  public var kept: Kept?
  /// What to do next.
  public var advice: String?

  /// What an unfinished download has left.
  public struct Kept: Sendable, Equatable {
    /// The data file.
    public var path: String
    /// Bytes that would survive a power loss.
    public var durable: Int
    /// Bytes in the file, the durable ones included. After a crash of the system the rest is checked, not trusted.
    public var written: Int
    /// The length of the whole file, where it is known.
    public var total: Int?
    /// Whether the same request goes on from there.
    public var canResume: Bool
  }

  package init(_ code: Code, _ message: String, kept: Kept? = nil, advice: String? = nil) {
    self.code = code
    self.message = message
    self.kept = kept
    self.advice = advice
  }

  /// Message and advice in one line.
  public var description: String {
    advice.map { "\(message); \($0)" } ?? message
  }
}
