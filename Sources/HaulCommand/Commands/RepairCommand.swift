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

/// `haul repair FILE URL`: makes a damaged file whole.
struct RepairCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "repair",
    abstract: "Fetches what is damaged of a file.",
    discussion: """
      An unfinished file has a sum for each chunk: it is read, and only damaged and missing chunks are fetched. Of a \
      finished file whose digest is wrong nothing tells which bytes are, so all of it is fetched, beside the file, \
      which stays until the new one is complete and has the digest. (Lists of the pieces' digests, as Metalink has \
      them, are not read yet.) Exits as a download does; 0 also if there was nothing to repair.
      """)

  @Argument(
    help: ArgumentHelp(
      "The finished file; or an unfinished one, its .haul-part or its .haul.", valueName: "file"))
  var file: String

  @Argument(help: ArgumentHelp("Where it came from, http or https.", valueName: "url"))
  var url: String

  @OptionGroup var fetch: FetchOptions

  func run() async throws {
    let unfinished = try? Partials.inspect(file)
    let path = unfinished?.path ?? file
    var (request, downloader) = try await fetch.prepare(url, to: path)
    if access(path, F_OK) == 0 {
      guard let wanted = request.checksum, let digest = wanted.expected else {
        throw ValidationError(
          "Nothing tells what is right in a finished file: give its digest with --sha256.")
      }
      guard try differs(path, digest) else { return }
      // What an earlier repair has left was begun for this digest; anything else is not this one's to throw away.
      if let unfinished, unfinished.manifest?.expected?.expected != digest {
        throw DownloadError(
          .occupied, "\(unfinished.partPath) belongs to another download",
          advice: "finish or remove that first")
      }
      // Replaced in one step, and only by what has the digest.
      request.options.overwrites = true
    } else if let unfinished {
      say(
        "\(path) is unfinished: what is there is compared with its sums, what is damaged or missing is fetched"
      )
      if unfinished.state == .digestDiffered {
        guard request.checksum != nil else {
          throw ValidationError("\(path) did not have its digest: give the right one with --sha256.")
        }
        say("it did not have its digest and nothing tells which chunks are wrong: all of it is fetched again")
        request.options.overwrites = true
      }
    } else {
      throw DownloadError(
        .disk, "there is nothing to repair at \(path)", advice: "check its name; haul URL fetches it anew")
    }
    _ = try await fetch.fetch(request, with: downloader)
  }

  /// Reads the finished file. Says what it is where it needs nothing.
  private func differs(_ path: String, _ wanted: ExpectedDigest) throws -> Bool {
    _ = try FinishedFile.length(path)
    SignalTrap.onInterrupt {}
    let found: (length: Int, digests: DigestSet)?
    do throws(DigestError) {
      found = try FileDigest.compute([wanted.algorithm], ofFileAt: path) { _ in SignalTrap.received == 0 }
    } catch {
      throw DownloadError(.disk, "\(path): \(error)", advice: "check its name and the disk")
    }
    guard let found else { throw ExitCode(128 + SignalTrap.received) }
    let report = VerifyReport(path: path, length: found.length, digests: found.digests, wanted: [wanted])
    if report.errors.isEmpty {
      if !fetch.quiet { for line in report.lines { Terminal.print(line) } }
      return false
    }
    for line in report.errors.prefix(1) { Terminal.printError(line) }
    say(
      "nothing tells which bytes are wrong: all of it is fetched; \(path) stays until the new one has the digest"
    )
    return true
  }

  private func say(_ text: String) {
    if !fetch.quiet { Terminal.printError("haul: " + TerminalSafe.escaped(text)) }
  }
}
