// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The texts that a person reads first are committed, so that a change of them shows in a review.
///
/// To renew them: `HAUL_RENEW_SNAPSHOTS=1 swift test --filter HelpTests`, then look at `git diff`.
@Suite(.timeLimit(.minutes(10)))
struct HelpTests {
  @Test(
    "help is what the snapshot says",
    arguments: [
      ("help", ["--help"]), ("get-help", ["get", "--help"]), ("demo-help", ["demo", "--help"]),
      ("inspect-help", ["inspect", "--help"]), ("partials-help", ["partials", "--help"]),
      ("verify-help", ["verify", "--help"]), ("adopt-help", ["adopt", "--help"]),
      ("repair-help", ["repair", "--help"]),
    ])
  func help(name: String, arguments: [String]) throws {
    let ended = try HaulProcess.run(arguments)
    #expect(ended.end == .exit(0) && ended.errors.isEmpty)
    let folder = #filePath.split(separator: "/").dropLast().map { "/" + $0 }.joined()
    let path = "\(folder)/Snapshots/\(name).txt"
    if getenv("HAUL_RENEW_SNAPSHOTS") != nil { try Files.write(ended.output, to: path) }
    #expect(
      ended.output == (try Files.text(of: path)), "renew it with HAUL_RENEW_SNAPSHOTS=1 if this is right")
  }

  @Test("-h and the word help are the same as --help", arguments: ["-h", "help"])
  func shortHelp(argument: String) throws {
    #expect(try HaulProcess.run([argument]).output == HaulProcess.run(["--help"]).output)
  }

  @Test("the help names every option of the man page and of README, and they name every option of the help")
  func optionsAreDocumented() throws {
    let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
    var help = Self.options(in: try HaulProcess.run(["--help"]).output)
    for command in Self.commands {
      help.formUnion(Self.options(in: try HaulProcess.run([command, "--help"]).output))
    }
    let manual = Self.options(
      in: try Files.text(of: root + "/Docs/haul.1").replacing("\\-", with: "-").replacing("Fl -", with: "--"))
    #expect(help.count > 10)
    #expect(help == manual)
    let readme = try Files.text(of: root + "/README.md")
    for option in help { #expect(readme.contains(option), "README does not mention \(option)") }
  }

  /// All but `get`, which is the default.
  private static let commands = ["inspect", "partials", "verify", "adopt", "repair", "demo"]

  @Test("each subcommand is in the overall help, in the man page and in README", arguments: commands)
  func commandIsDocumented(command: String) throws {
    let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
    #expect(try HaulProcess.run(["--help"]).output.contains("haul \(command)"))
    #expect(try Files.text(of: root + "/Docs/haul.1").contains(".Cm \(command)"))
    #expect(try Files.text(of: root + "/README.md").contains("haul \(command)"))
  }

  @Test("a subcommand is the first word alone: elsewhere it is a URL, and no URL is taken for one")
  func grammar() throws {
    let folder = try TemporaryDirectory()
    try Files.write("x", to: folder.path(of: "verify"))
    for arguments in [["http://127.0.0.1:1/verify", "verify"], ["-q", "verify", "http://127.0.0.1:1/x"]] {
      let ended = try HaulProcess.run(arguments + ["--retries", "0"], in: folder.path)
      #expect(ended.errors.contains("not a URL that can be fetched"), "\(ended.errors)")
      #expect(ended.stdout.isEmpty && ended.code != 0)
    }
    #expect(Files.names(in: folder.path) == ["verify"])
    // After "--" nothing is a subcommand either.
    let escaped = try HaulProcess.run(["--", "verify"], in: folder.path)
    #expect(escaped.errors.contains("not a URL that can be fetched"))
  }

  /// Long options in a text.
  private static func options(in text: String) -> Set<String> {
    var found: Set<String> = []
    for word in text.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "-" })
    where word.hasPrefix("--") {
      if word.count > 3 { found.insert(String(word)) }
    }
    return found
  }

  @Test("--version prints one line")
  func version() throws {
    let ended = try HaulProcess.run(["--version"])
    #expect(ended.end == .exit(0) && ended.errors.isEmpty)
    let words = ended.output.split(separator: " ")
    #expect(words.count == 2 && words[0] == "haul" && ended.output.hasSuffix("\n"))
    #expect(words.last?.split(separator: ".").count == 3)
  }
}
