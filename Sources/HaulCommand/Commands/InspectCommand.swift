// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Haul

/// `haul inspect FILE`: what is known of an unfinished file.
struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Shows what is there of an unfinished file, and what its manifest says.",
    discussion: """
      Nothing is changed, and a download that is running is not disturbed. Exits with 0 if the file can be gone on \
      with or is being fetched now, 1 if it cannot (its manifest is missing, damaged or not Haul's, or it did not \
      have its digest), 14 if there is nothing.
      """)

  @Argument(help: ArgumentHelp("The file, its .haul-part or its .haul.", valueName: "file"))
  var file: String

  @Flag(help: "Print one JSON object instead; the man page describes it.")
  var json = false

  func run() throws {
    SignalTrap.leaveOnInterrupt()
    let partial = try Partials.inspect(file)
    if json {
      Terminal.print(PartialDocument.one(partial).lines)
    } else {
      for line in PartialReport.now.inspection(partial) { Terminal.print(line) }
    }
    switch partial.state {
    case .resumable, .running, .finished: return
    case .digestDiffered, .damaged, .withoutManifest, .withoutPart, .foreign: throw ExitCode(1)
    }
  }
}
