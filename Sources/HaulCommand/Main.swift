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
    await RootCommand.main()
  }
}

struct RootCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "haul",
    abstract: "Fetches big files fast, whole and verified, and goes on where it was interrupted.",
    discussion: """
      Run the same command again to go on: only what is missing is fetched. The file gets its name when it is \
      complete; until then its bytes are in NAME.haul-part and what is known of them in NAME.haul.
      """,
    version: "haul \(HaulVersion.current)",
    subcommands: [GetCommand.self, DemoCommand.self],
    defaultSubcommand: GetCommand.self)
}
