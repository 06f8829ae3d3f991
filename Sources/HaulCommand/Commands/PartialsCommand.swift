// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Haul

/// `haul partials [DIR]`: what is unfinished in a folder.
struct PartialsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "partials",
    abstract: "Lists the unfinished files in a folder.",
    discussion: """
      With --remove they are removed: never one that a process is working on, never what is not Haul's, and never \
      a finished file. Exits with 0, also where nothing is unfinished or something was left alone; 14 if the folder \
      cannot be read or something could not be removed.
      """)

  @Argument(help: ArgumentHelp("The folder; the current one unless given.", valueName: "dir"))
  var directory = "."

  @Flag(help: "Remove them, and tell how much room that has made.")
  var remove = false

  @Flag(help: "Print one JSON object instead; the man page describes it.")
  var json = false

  func run() throws {
    SignalTrap.leaveOnInterrupt()
    let partials = try Partials.list(in: directory)
    let report = PartialReport.now
    if !json, !remove {
      for line in report.list(partials) { Terminal.print(line) }
      Terminal.print(report.total(partials, in: directory))
      return
    }
    let removals = remove ? partials.map(Removal.init) : []
    if json {
      let outcomes = Dictionary(removals.map { ($0.partial.name, $0.document) }) { first, _ in first }
      Terminal.print(
        PartialDocument.list(partials, in: directory, removed: remove ? outcomes : nil).lines)
    } else {
      for removal in removals where removal.error == nil {
        Terminal.print(
          "removed \(TerminalSafe.escaped(removal.partial.name)): "
            + "\(Quantities.bytes(removal.partial.allocatedBytes)) freed")
      }
      Terminal.print(Self.total(removals, in: directory))
    }
    try tell(removals)
  }

  /// What is left alone by design is no failure; what could not be removed is.
  private func tell(_ removals: [Removal]) throws {
    var hasFailed = false
    for removal in removals {
      guard let error = removal.error else { continue }
      hasFailed = hasFailed || !removal.isLeftAlone
      Terminal.printError("haul: \(TerminalSafe.escaped(error.description))")
    }
    if hasFailed { throw ExitCode(ExitStatus.of(.disk)) }
  }

  private static func total(_ removals: [Removal], in directory: String) -> String {
    let done = removals.filter { $0.error == nil }
    let bytes = done.reduce(0) { $0 + $1.partial.allocatedBytes }
    let left = removals.count - done.count
    let kept = left > 0 ? ", \(left) left alone" : ""
    if removals.isEmpty { return "nothing unfinished in \(TerminalSafe.escaped(directory))" }
    return
      "\(done.count) removed in \(TerminalSafe.escaped(directory)), \(Quantities.bytes(bytes)) freed\(kept)"
  }
}

/// One attempt to remove a partial file.
private struct Removal {
  let partial: Partial
  let error: DownloadError?

  init(_ partial: Partial) {
    self.partial = partial
    do throws(DownloadError) {
      try Partials.remove(partial)
      error = nil
    } catch {
      self.error = error
    }
  }

  var isLeftAlone: Bool { error?.code == .busy || error?.code == .occupied }
  var document: JSONValue { .bool(error == nil) }
}
