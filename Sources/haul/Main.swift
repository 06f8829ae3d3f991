// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

@main
struct Main: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "haul")
}
