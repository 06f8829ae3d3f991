// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDigest
internal import HaulDisk
internal import HaulTransport

/// A request that has been checked: everything in it makes sense before a file or a socket is touched.
struct DownloadPlan: Sendable {
  let url: RemoteURL
  let directory: String
  /// Nil until the server has suggested one.
  let name: String?
  /// Whether the user has named the file himself: only then may it be a FIFO, a device or a link to one.
  let isNamedByUser: Bool
  /// The digest that the user has brought, to this run or to an earlier one.
  private(set) var wanted: ExpectedDigest?
  /// Whether it was brought to an earlier run.
  private(set) var isWantedFromBefore = false
  let headerLines: [String]
  /// For the URL's own origin.
  let credentials: Credentials?
  let options: DownloadOptions
  /// The name of another program's partial file in the directory.
  let adopted: String?

  /// Whether the user's digest is proof of which file it is.
  var hasTrustedDigest: Bool { wanted?.isStrong == true }

  /// The same with the digest that was given to an earlier run, which goes on counting.
  func wanting(_ digest: ExpectedDigest) -> DownloadPlan {
    var plan = self
    (plan.wanted, plan.isWantedFromBefore) = (digest, true)
    return plan
  }

  /// What a manifest stores of the URL and a message may show.
  var sourceText: String { url.source.text }

  init(_ request: DownloadRequest) throws(DownloadError) {
    do throws(URLProblem) {
      url = try RemoteURL(request.url)
    } catch {
      throw DownloadError(
        .invalidRequest,
        request.url.isEmpty
          ? "the URL is empty"
          : "\(Self.redacted(request.url)) is not a URL that Haul can fetch: \(error.reason)",
        advice: Self.advice(forURL: request.url))
    }
    (directory, name) = try Self.place(request.output, url: url)
    adopted = try Self.adopted(request, in: directory, url)
    if case .file = request.output { isNamedByUser = true } else { isNamedByUser = false }
    wanted = try request.checksum.map(Self.digest)
    try Self.check(headers: request.headers + ["User-Agent: \(request.options.userAgent)"])
    headerLines = request.headers
    credentials = try Self.credentials(request.login, url: url)
    options = request.options
    try Self.check(options)
  }

  var transferSettings: TransferSettings {
    var settings = TransferSettings()
    switch options.connections {
    case .automatic: settings.connections = .automatic
    case .fixed(let count): settings.connections = .fixed(count)
    }
    settings.retry = RetryPolicy(limit: options.retries)
    settings.silenceSeconds = options.silenceTimeout
    settings.paceSeconds = options.paceTimeout
    settings.acceptsUnframed = options.acceptsUnframed || wanted != nil
    settings.hasTrustedDigest = hasTrustedDigest
    settings.restartsOnChange = options.restartsOnChange
    settings.mayBePage = FileName.isPage(url.path) || name.map(FileName.isPage) == true
    return settings
  }

  func transportOptions(proxies: ProxySettings) -> TransportOptions {
    TransportOptions(
      caFile: options.caFile, connectTimeout: options.connectTimeout, userAgent: options.userAgent,
      proxies: proxies)
  }

  /// What the URL would name the file, and what it is named, where these differ.
  var renaming: (from: String, to: String)? {
    guard !isNamedByUser, let name, let raw = FileName.raw(inURLPath: url.path),
      !raw.utf8.elementsEqual(name.utf8)
    else { return nil }
    return (raw, name)
  }

  /// Where a file of this name goes, as a person reads it.
  func pathText(name: String) -> String {
    directory == "." ? name : directory == "/" ? "/\(name)" : "\(directory)/\(name)"
  }

  private static func place(
    _ output: DownloadRequest.Output, url: RemoteURL
  ) throws(DownloadError) -> (directory: String, name: String?) {
    switch output {
    case .directory(let directory):
      return (directory.isEmpty ? "." : directory, FileName.fromURLPath(url.path))
    case .file(let path):
      let slash = path.lastIndex(of: "/")
      let name = String(slash.map { path[path.index(after: $0)...] } ?? path[...])
      let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
      guard !name.isEmpty, name != ".", name != "..", !path.utf8.contains(0) else {
        throw DownloadError(
          .invalidRequest, "the output names no file: \(path)", advice: "name a file, or a folder with -d")
      }
      return (directory, name)
    }
  }

  private static func adopted(
    _ request: DownloadRequest, in directory: String, _ url: RemoteURL
  ) throws(DownloadError) -> String? {
    guard let path = request.adopted else { return nil }
    let (place, name) = try place(.file(path), url: url)
    guard case .file = request.output, place == directory, let name else {
      throw DownloadError(
        .invalidRequest, "\(path) is not in the folder of its download", advice: "move it there first")
    }
    guard !Target.suffixes.contains(where: name.hasSuffix) else {
      throw DownloadError(
        .invalidRequest, "\(path) is Haul's own", advice: "haul URL goes on from it by itself")
    }
    return name
  }

  /// Whether bodies are compared with their own digests, where they have one. It proves nothing about whose bytes
  /// they are, so that the scheme does not matter.
  var checksBodies: Bool {
    switch options.serverDigests {
    case .automatic: options.computesDigest
    case .used: true
    case .ignored: false
    }
  }

  /// Whether what a server of `origin` declares about digests is compared.
  func believesDigests(from origin: Origin) -> Bool {
    switch options.serverDigests {
    case .automatic: options.computesDigest && origin.scheme == "https"
    case .used: true
    case .ignored: false
    }
  }

  private static func digest(_ checksum: Checksum) throws(DownloadError) -> ExpectedDigest {
    let algorithm = checksum.algorithm.core
    guard let digest = checksum.expected else {
      throw DownloadError(
        .invalidRequest, "not a \(algorithm.name): \(checksum.hex)",
        advice: "give its \(2 * algorithm.byteCount) hexadecimal digits")
    }
    guard Digest.isOffered(algorithm) else {
      throw DownloadError(
        .invalidRequest, "the installed libcrypto offers no \(algorithm.name)", advice: "give a SHA-256")
    }
    return digest
  }

  private static func check(_ options: DownloadOptions) throws(DownloadError) {
    if case .fixed(let count) = options.connections, !(1...256).contains(count) {
      throw DownloadError(
        .invalidRequest, "\(count) connections cannot be kept busy", advice: "choose 1 to 256")
    }
    guard (0...1000).contains(options.retries) else {
      throw DownloadError(
        .invalidRequest, "\(options.retries) is no number of retries", advice: "choose 0 to 1000")
    }
    guard options.connectTimeout > 0, options.connectTimeout <= 86_400, options.silenceTimeout > 0 else {
      throw DownloadError(
        .invalidRequest, "a timeout has to be above 0 and at most a day", advice: "give seconds, up to 86400")
    }
  }
}
