// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Haul

/// `haul URL…`: the default subcommand.
struct GetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Fetches big files fast, whole and verified, and goes on where it was interrupted.",
    usage: """
      haul [<options>] <url> ...
      haul inspect <file>
      haul partials [<dir>]
      haul verify <file> [--sha256 <hex>]
      haul adopt <file> <url>
      haul repair <file> <url> --sha256 <hex>
      haul demo
      """,
    discussion: """
      Run the same command again to go on: only what is missing is fetched. The file gets its name when it is \
      complete; until then its bytes are in NAME.haul-part and what is known of them in NAME.haul.
      """)

  @Argument(
    help: ArgumentHelp(
      "What to fetch, http or https. Several are several files, one after the other.", valueName: "url"))
  var urls: [String]

  @Option(
    name: [.customShort("o", allowingJoined: true), .customLong("output")],
    help: ArgumentHelp(
      "Where to put it. A FIFO, a device or /dev/null gets the bytes in order, over one connection.",
      valueName: "file"))
  var output: String?

  @Option(
    name: [.customShort("d", allowingJoined: true), .customLong("directory")],
    help: ArgumentHelp("The folder to put it in.", valueName: "dir"))
  var directory: String?

  @Option(
    name: [.customShort("c", allowingJoined: true), .customLong("connections")], parsing: .unconditional,
    help: ArgumentHelp("How many connections to keep busy: 1 to 256, or auto.", valueName: "n|auto"))
  var connections = ConnectionsArgument.automatic

  @Option(help: ArgumentHelp("The SHA-256 that the file must have.", valueName: "hex"))
  var sha256: String?

  @Option(
    help: ArgumentHelp(
      "The digest that the file must have: sha-256:…, sha-512:…, sha-1:… or md5:… Or auto: the one that the server"
        + " declares (the default over https); none: do not look at it.",
      valueName: "algo:hex|auto|none"))
  var checksum: String?

  @Option(
    name: .customLong("checksum-file"),
    help: ArgumentHelp(
      "Take the digest from this list, as sha256sum writes it; a file or a URL.", valueName: "file|url"))
  var checksumFile: String?

  @Flag(name: .customLong("no-digest"), help: "Do not compute the SHA-256.")
  var noDigest = false

  @Flag(
    name: .customLong("no-sync"),
    help: "Never wait for the disk: a power loss can then take the file, even a finished one.")
  var noSync = false

  @Option(
    name: .customLong("on-full"),
    help: ArgumentHelp(
      "When the disk gets full: wait for room (the default on a terminal), or fail.", valueName: "wait|fail"))
  var onFull: OnFullArgument?

  @OptionGroup var secrets: SecretOptions

  @Option(help: ArgumentHelp("Trust the certificates in this PEM file.", valueName: "file"))
  var cacert: String?

  // A number with a sign is a value that is refused, not another option.
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Give up after so many retries in a row without a new byte.", valueName: "n"))
  var retries = 5

  @Option(
    name: .customLong("connect-timeout"), parsing: .unconditional,
    help: ArgumentHelp("How long one connection may take to open.", valueName: "seconds"))
  var connectTimeout = 30.0

  @Flag(help: "Replace an existing file; start over a partial of another source.")
  var overwrite = false

  @Flag(
    name: .customLong("no-restart"),
    help: "Fail where the file has changed on the server, instead of fetching it anew.")
  var noRestart = false

  @Flag(
    name: .customLong("force-resume"),
    help: "Go on although the server gives no validator: nobody can tell whether it is the same file.")
  var forceResume = false

  @Flag(
    name: .customLong("accept-unframed"),
    help: "Accept an answer whose end cannot be told from a cut connection.")
  var acceptUnframed = false

  @Flag(
    name: .customLong("allow-downgrade"),
    help: "Follow a redirect from https to http, without headers and credentials.")
  var allowDowngrade = false

  @Flag(name: .shortAndLong, help: "Say nothing but errors.")
  var quiet = false

  func validate() throws {
    guard !urls.isEmpty else { throw ValidationError("No URL was given.") }
    try validateChecksum()
    if output == "-" {
      throw ValidationError("Standard output is not supported yet; -o ./- names a file of that name.")
    }
    if let output, output.hasPrefix("/"), directory != nil {
      throw ValidationError("-o names a place of its own (\(output)), so -d contradicts it.")
    }
    if let cacert, let why = SecretFile.problem(reading: cacert) {
      throw ValidationError("--cacert: cannot read \(cacert): \(why).")
    }
  }

  private func validateChecksum() throws {
    let argument = try checksum.map(ChecksumArgument.init)
    if urls.count > 1, output != nil || sha256 != nil || argument?.checksum != nil {
      throw ValidationError(
        "-o, --sha256 and a digest in --checksum belong to one URL; \(urls.count) were given.")
    }
    let given = [
      sha256.map { _ in "--sha256" }, checksum.map { _ in "--checksum" },
      checksumFile.map { _ in "--checksum-file" },
    ].compactMap { $0 }
    if given.count > 1 {
      throw ValidationError("\(given.joined(separator: " and ")) contradict each other: give one of them.")
    }
    if noDigest, let first = given.first, checksum != "none" {
      throw ValidationError("\(first) and --no-digest contradict each other.")
    }
  }

  func run() async throws {
    var configuration = Downloader.Configuration()
    configuration.environment = Terminal.environment
    let collected = try secrets.collect(environment: configuration.environment)
    let downloader = try Downloader(configuration)
    var list: ChecksumList?
    if let checksumFile, let first = urls.first {
      list = try await ChecksumList.load(
        checksumFile, like: request(first, checksum: nil, collected), with: downloader)
    }
    var status: Int32 = 0
    for url in urls {
      let outcome = await fetch(url, list, collected, with: downloader)
      guard case .failure(let error) = outcome else { continue }
      if status == 0 { status = ExitStatus.of(error.code) }
      if error.code == .interrupted { break }
    }
    if SignalTrap.received != 0, status == ExitStatus.interrupted { status = 128 + SignalTrap.received }
    if status != 0 { throw ExitCode(status) }
  }

  private func fetch(
    _ url: String, _ list: ChecksumList?, _ collected: SecretOptions.Collected, with downloader: Downloader
  ) async -> Result<DownloadResult, DownloadError> {
    let wanted: Checksum?
    do throws(DownloadError) {
      wanted = try list?.checksum(of: url, output: output) ?? givenChecksum
    } catch {
      for line in Report.error(error) { Terminal.printError(line) }
      return .failure(error)
    }
    if !quiet, let warning = collected.warning(for: url) {
      Terminal.printError("haul: " + TerminalSafe.escaped(warning))
    }
    let download = downloader.start(request(url, checksum: wanted, collected))
    SignalTrap.onInterrupt { download.cancel() }
    // Where standard output is the file itself, the summary must not get into it.
    if let output, Terminal.isStandardOutput(output) { Terminal.summariesGoToError() }
    let outcome = await Display(quiet: quiet).follow(download)
    if !quiet, case .automatic? = checksumArgument, case .success(let result) = outcome,
      result.checksum == nil
    {
      Terminal.printError(
        "haul: warning: --checksum auto found nothing to compare with: the server declares no digest of the file"
      )
    }
    return outcome
  }

  private var checksumArgument: ChecksumArgument? {
    // It was looked at in `validate()`.
    checksum.flatMap { try? ChecksumArgument($0) }
  }

  private var givenChecksum: Checksum? {
    sha256.map { Checksum(.sha256, hex: $0) } ?? checksumArgument?.checksum
  }

  private func request(
    _ url: String, checksum: Checksum?, _ secrets: SecretOptions.Collected
  ) -> DownloadRequest {
    var options = DownloadOptions()
    options.connections = connections.choice
    options.retries = retries
    options.connectTimeout = connectTimeout
    options.caFile = cacert
    options.isDurable = !noSync
    options.computesDigest = !noDigest
    options.onFullDisk = (onFull ?? .usual).choice
    options.overwrites = overwrite
    options.acceptsUnframed = acceptUnframed
    options.restartsOnChange = !noRestart
    options.forcesResume = forceResume
    options.serverDigests = checksumArgument?.serverDigests ?? .automatic
    options.allowsDowngrade = allowDowngrade
    var request = DownloadRequest(
      url: url, output: place, checksum: checksum, headers: secrets.headers, options: options)
    request.login = secrets.login
    return request
  }

  private var place: DownloadRequest.Output {
    guard let output else { return .directory(directory ?? ".") }
    return .file(directory.map { "\($0)/\(output)" } ?? output)
  }
}

/// `-c N` or `-c auto`.
enum ConnectionsArgument: ExpressibleByArgument {
  case automatic
  case fixed(Int)

  init?(argument: String) {
    if argument == "auto" {
      self = .automatic
    } else if let count = Int(argument), (1...256).contains(count) {
      self = .fixed(count)
    } else {
      return nil
    }
  }

  var defaultValueDescription: String {
    switch self {
    case .automatic: "auto"
    case .fixed(let count): "\(count)"
    }
  }

  var choice: DownloadOptions.Connections {
    switch self {
    case .automatic: .automatic
    case .fixed(let count): .fixed(count)
    }
  }
}

/// `--on-full wait` or `--on-full fail`.
enum OnFullArgument: String, CaseIterable, ExpressibleByArgument {
  case wait
  case fail

  /// Whoever sits at a terminal can make room.
  static var usual: OnFullArgument { Terminal.errorIsTerminal ? .wait : .fail }

  var choice: DownloadOptions.FullDisk {
    switch self {
    case .wait: .waits
    case .fail: .fails
    }
  }
}
