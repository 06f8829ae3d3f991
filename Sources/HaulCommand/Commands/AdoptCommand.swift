// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Haul
import HaulCore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// `haul adopt FILE URL`: goes on from what another program has begun.
struct AdoptCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "adopt",
    abstract: "Goes on from a partial file of curl, wget or a browser.",
    discussion: """
      What is there is compared with the server first: its first and its last block of 1 MiB, and one of each 64 MiB \
      between. If they are equal the file becomes the part of a download, which goes on to the end; if not it stays \
      as it was. Blocks with a page of nothing but zeros, which may be room set aside, and the last MiB are fetched again. The blocks \
      that were not compared are taken as they are: only a digest proves them. Stop the other program first. \
      Exits as a download does: 16 if the file cannot be taken over.
      """)

  @Argument(help: ArgumentHelp("The partial file.", valueName: "file"))
  var file: String

  @Argument(help: ArgumentHelp("Where the rest of it is, http or https.", valueName: "url"))
  var url: String

  @Option(
    name: [.customShort("o", allowingJoined: true), .customLong("output")],
    help: ArgumentHelp(
      "The finished file's name, in the same folder. Otherwise the partial's, without .part, .crdownload and the like.",
      valueName: "name"))
  var output: String?

  @Flag(
    name: .customLong("force-resume"),
    help: "Go on although the server gives no validator: nobody can tell whether it is the same file.")
  var forceResume = false

  @OptionGroup var fetch: FetchOptions

  func validate() throws {
    if let output, output.isEmpty || output.contains("/") {
      throw ValidationError("-o is a name in the folder of the partial file, without a slash.")
    }
  }

  func run() async throws {
    guard let name = output ?? PartialName.finished(PathParts.name(file)) ?? RequestURL.fileName(url) else {
      throw ValidationError("Neither the file nor the URL tells the finished file's name: give it with -o.")
    }
    let path = PathParts.folder(file) + name
    // An attempt that was interrupted has taken it over already: the same command goes on from there.
    let isTaken = access(file, F_OK) != 0 && (try? Partials.inspect(path))?.manifest != nil
    if !isTaken { try insistFile() }
    var (request, downloader) = try await fetch.prepare(url, to: path)
    request.adopted = isTaken ? nil : file
    request.options.forcesResume = forceResume
    let result = try await fetch.fetch(request, with: downloader)
    if !fetch.quiet { for line in Report.unproven(result) { Terminal.print(line) } }
  }

  /// Before anybody is asked for anything.
  private func insistFile() throws {
    var status = stat()
    let why: String
    if lstat(file, &status) != 0 {
      why = String(cString: strerror(errno))
    } else if status.st_mode & S_IFMT != S_IFREG {
      why = status.st_mode & S_IFMT == S_IFLNK ? "it is a symbolic link" : "it is not a regular file"
    } else {
      return
    }
    throw DownloadError(.disk, "\(file) cannot be taken over: \(why)", advice: "name the partial file itself")
  }
}
