// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Haul
import HaulCore
import HaulDigest

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// `haul verify FILE`: whether a finished file has its digest.
struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Reads a finished file and compares it with its digest.",
    discussion: """
      Several digests are computed in one pass, and each of them has to match. Without one the SHA-256 is computed \
      and shown. Exits with 0 if all match, 13 if one does not, 14 if the file cannot be read.
      """)

  @Argument(help: ArgumentHelp("The file to read.", valueName: "file"))
  var file: String

  @Option(help: ArgumentHelp("The SHA-256 that it must have.", valueName: "hex"))
  var sha256: String?

  @Option(
    help: ArgumentHelp(
      "A digest that it must have: sha-256:…, sha-512:…, sha-1:… or md5:… May be given more than once.",
      valueName: "algo:hex"))
  var checksum: [String] = []

  @Option(
    name: .customLong("checksum-file"),
    help: ArgumentHelp(
      "Take the digest from this file's line in a list, as sha256sum writes it; a file or a URL.",
      valueName: "file|url"))
  var checksumFile: String?

  @Flag(name: .shortAndLong, help: "Say nothing but errors.")
  var quiet = false

  func validate() throws { _ = try given() }

  func run() async throws {
    var wanted = try given()
    // Before a long list is fetched: what cannot be read needs no digest.
    let length = try FinishedFile.length(file)
    if let checksumFile { wanted.append(try await listed(in: checksumFile)) }
    guard let digests = try compute(wanted, length: length) else {
      throw ExitCode(128 + SignalTrap.received)
    }
    let report = VerifyReport(path: file, length: digests.length, digests: digests.found, wanted: wanted)
    for line in quiet ? [] : report.lines { Terminal.print(line) }
    for line in report.errors { Terminal.printError(line) }
    if !report.errors.isEmpty { throw ExitCode(ExitStatus.of(.digestMismatch)) }
  }

  /// The digests of the command line.
  private func given() throws -> [ExpectedDigest] {
    var digests: [ExpectedDigest] = []
    if let sha256 {
      guard let digest = ExpectedDigest(.sha256, hex: sha256) else {
        throw ValidationError(
          "--sha256 \(TerminalSafe.escaped(sha256)): \(DigestProblem.wrongDigits(.sha256)).")
      }
      digests.append(digest)
    }
    for text in checksum {
      do throws(DigestProblem) {
        digests.append(try ExpectedDigest(text: text))
      } catch {
        throw ValidationError(
          "--checksum \(TerminalSafe.escaped(text)): \(TerminalSafe.escaped("\(error)")).")
      }
    }
    return digests
  }

  private func listed(in place: String) async throws -> ExpectedDigest {
    var configuration = Downloader.Configuration()
    configuration.environment = Terminal.environment
    let list = try await ChecksumList.load(
      place, like: DownloadRequest(url: place), with: Downloader(configuration))
    return try list.digest(ofFile: file)
  }

  private func compute(
    _ wanted: [ExpectedDigest], length: Int
  ) throws -> (length: Int, found: DigestSet)? {
    let algorithms = wanted.isEmpty ? [.sha256] : Set(wanted.map(\.algorithm))
    var line = CheckingLine(path: file, length: length, isShown: !quiet && Terminal.errorIsTerminal)
    defer { line.clear() }
    SignalTrap.onInterrupt {}
    do throws(DigestError) {
      return try FileDigest.compute(algorithms, ofFileAt: file) { done in
        line.show(done)
        return SignalTrap.received == 0
      }.map { ($0.length, $0.digests) }
    } catch {
      switch error {
      case .unreadable(_, let code):
        throw FinishedFile.unreadable(file, String(cString: strerror(code)), "check the disk")
      default: throw DownloadError(.other, "\(error)", advice: "give a SHA-256")
      }
    }
  }
}

/// The live line of a file that is being read.
private struct CheckingLine {
  let path: String
  let length: Int
  let isShown: Bool
  private var window = RateWindow()
  private let clock = ContinuousClock()
  private let start = ContinuousClock().now
  private var nextFrame = 0.2

  init(path: String, length: Int, isShown: Bool) {
    (self.path, self.length, self.isShown) = (path, length, isShown)
  }

  mutating func show(_ done: Int) {
    guard isShown else { return }
    let now = start.duration(to: clock.now) / .seconds(1)
    guard now >= nextFrame else { return }
    nextFrame = now + 0.1
    window.add(received: done, now: now)
    Terminal.draw(
      "\r\u{1b}[K"
        + VerifyReport.progress(
          path: path, done: done, of: length, rate: window.rate, columns: Terminal.columns))
  }

  func clear() { if isShown { Terminal.draw("\r\u{1b}[K") } }
}
