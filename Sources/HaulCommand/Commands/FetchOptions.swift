// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Haul
import HaulCore

/// What `adopt` and `repair` share with a download: one file, one URL, at most one digest.
struct FetchOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The SHA-256 that the file must have.", valueName: "hex"))
  var sha256: String?

  @Option(
    help: ArgumentHelp(
      "The digest that the file must have: sha-256:…, sha-512:…, sha-1:… or md5:…", valueName: "algo:hex"))
  var checksum: String?

  @Option(
    name: .customLong("checksum-file"),
    help: ArgumentHelp(
      "Take the digest from this list, as sha256sum writes it; a file or a URL.", valueName: "file|url"))
  var checksumFile: String?

  @Option(
    name: [.customShort("c", allowingJoined: true), .customLong("connections")],
    help: ArgumentHelp("How many connections to keep busy: 1 to 256, or auto.", valueName: "n|auto"))
  var connections = ConnectionsArgument.automatic

  @Flag(
    name: .customLong("no-sync"),
    help: "Never wait for the disk: a power loss can then take the file, even a finished one.")
  var noSync = false

  @OptionGroup var secrets: SecretOptions

  @Option(help: ArgumentHelp("Trust the certificates in this PEM file.", valueName: "file"))
  var cacert: String?

  @Option(help: ArgumentHelp("Give up after so many retries in a row without a new byte.", valueName: "n"))
  var retries = 5

  @Flag(name: .shortAndLong, help: "Say nothing but errors.")
  var quiet = false

  func validate() throws {
    let given = [
      sha256.map { _ in "--sha256" }, checksum.map { _ in "--checksum" },
      checksumFile.map { _ in "--checksum-file" },
    ].compactMap { $0 }
    if given.count > 1 {
      throw ValidationError("\(given.joined(separator: " and ")) contradict each other: give one of them.")
    }
    if let sha256, ExpectedDigest(.sha256, hex: sha256) == nil {
      throw ValidationError(
        "--sha256 \(TerminalSafe.escaped(sha256)): \(DigestProblem.wrongDigits(.sha256)).")
    }
    if let checksum, try ChecksumArgument(checksum).checksum == nil {
      throw ValidationError("--checksum \(checksum) is for downloads: give a digest here.")
    }
    if let cacert, let why = SecretFile.problem(reading: cacert) {
      throw ValidationError("--cacert: cannot read \(TerminalSafe.escaped(cacert)): \(why).")
    }
  }

  /// A request with all of these, and what makes it.
  func prepare(_ url: String, to path: String) async throws -> (DownloadRequest, Downloader) {
    var configuration = Downloader.Configuration()
    configuration.environment = Terminal.environment
    let collected = try secrets.collect(environment: configuration.environment)
    if !quiet, let warning = collected.warning(for: url) {
      Terminal.printError("haul: " + TerminalSafe.escaped(warning))
    }
    let downloader = try Downloader(configuration)
    var options = DownloadOptions()
    options.connections = connections.choice
    options.retries = retries
    options.caFile = cacert
    options.isDurable = !noSync
    options.onFullDisk = OnFullArgument.usual.choice
    var request = DownloadRequest(
      url: url, output: .file(path), checksum: nil, headers: collected.headers, options: options)
    request.login = collected.login
    request.checksum = sha256.map { Checksum(.sha256, hex: $0) }
    if let checksum { request.checksum = try ChecksumArgument(checksum).checksum }
    if let checksumFile {
      let list = try await ChecksumList.load(checksumFile, like: request, with: downloader)
      request.checksum = try list.checksum(of: url, output: path)
    }
    return (request, downloader)
  }

  /// Fetches to the end and shows it, like any download.
  func fetch(_ request: DownloadRequest, with downloader: Downloader) async throws -> DownloadResult {
    let download = downloader.start(request)
    SignalTrap.onInterrupt { download.cancel() }
    switch await Display(quiet: quiet).follow(download) {
    case .success(let result): return result
    case .failure(let error):
      let status = ExitStatus.of(error.code)
      let isSignal = status == ExitStatus.interrupted && SignalTrap.received != 0
      throw ExitCode(isSignal ? 128 + SignalTrap.received : status)
    }
  }
}

/// A path as folder and name.
enum PathParts {
  /// The folder, ready to be put before a name.
  static func folder(_ path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
  }

  static func name(_ path: String) -> String {
    path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
  }
}
