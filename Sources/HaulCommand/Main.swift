// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Haul

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@main
struct Main {
  static func main() async {
    SignalTrap.prepare()
    var status = await run(Array(CommandLine.arguments.dropFirst()))
    if let why = Terminal.lostSummary {
      Terminal.printError(
        "haul: standard output could not be written to (\(why)); the files that were fetched are complete")
      if status == 0 { status = 1 }
    }
    leave(status)
  }

  /// Runs the command and returns its exit code; everything is said by then.
  private static func run(_ arguments: [String]) async -> Int32 {
    // Somebody who asks for help wants the options of the one thing that is done with haul.
    if arguments == ["--help"] || arguments == ["-h"] || arguments == ["help"] {
      Terminal.print(RootCommand.helpMessage(for: GetCommand.self, columns: nil))
      return 0
    }
    do {
      var command = try RootCommand.parseAsRoot(arguments)
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
      return 0
    } catch let error as DownloadError {
      for line in Report.error(error) { Terminal.printError(line) }
      return ExitStatus.of(error.code)
    } catch {
      let status = RootCommand.exitCode(for: error).rawValue
      let message = RootCommand.fullMessage(for: error)
      if !message.isEmpty { status == 0 ? Terminal.print(message) : Terminal.printError(ours(message)) }
      return status
    }
  }

  /// Errors of usage begin as all others do.
  private static func ours(_ message: String) -> String {
    let theirs = "Error: "
    guard message.hasPrefix(theirs) else { return message }
    // Nobody has to know that fetching is a subcommand.
    return "haul: " + message.dropFirst(theirs.count).replacing("haul get --help", with: "haul --help")
  }

  /// Ends the process at once. `exit` would first run the clean-up of libraries (OpenSSL's frees its locks) while
  /// the engine's thread may still be using them, and crash.
  private static func leave(_ status: Int32) -> Never {
    fflush(nil)
    _exit(status)
  }
}

struct RootCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "haul",
    abstract: "Fetches big files fast, whole and verified, and goes on where it was interrupted.",
    usage: GetCommand.configuration.usage,
    discussion: "haul --help lists the options.",
    version: "haul \(HaulVersion.current)",
    subcommands: [
      GetCommand.self, InspectCommand.self, PartialsCommand.self, VerifyCommand.self, AdoptCommand.self,
      RepairCommand.self, DemoCommand.self,
    ],
    defaultSubcommand: GetCommand.self)
}
