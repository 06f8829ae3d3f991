// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What a person sees while it runs.
@Suite(.timeLimit(.minutes(10)))
struct TerminalTests {
  private static let length = 9_000_000
  private let resource = OriginResource.reference(seed: 4, length: length).gated(at: 1_000_000)

  @Test(
    "on a terminal there is one live line that fits, and the summary alone stays",
    arguments: [24, 40, 60, 80, 200])
  func live(columns: Int) throws {
    let arena = try Arena(["/a-rather-long-name-of-a-file.iso": resource])
    let process = try HaulProcess.start(
      [arena.origin.url("/a-rather-long-name-of-a-file.iso")], in: arena.folder.path,
      output: .terminal(columns: columns))
    #expect(process.waitForOutput { text, _ in text.contains("%") })
    arena.origin.openGate("gate")
    let ended = process.wait()
    #expect(ended.end == .exit(0))
    let screen = TerminalScreen(ended.stdout)
    #expect(screen.unknown.isEmpty)
    let lines = screen.lines.filter { !$0.isEmpty }
    #expect(lines.count == 2, "\(lines)")
    #expect(lines.first?.hasPrefix("a-rather-long-name-of-a-file.iso: 9.0 MB in ") == true)
    #expect(lines.last?.hasPrefix("sha256 ") == true)
    // Only the summary may be wider than the terminal: it is written once and may wrap.
    let summary = ended.output.split(separator: "\u{1b}[K").last ?? ""
    let live = TerminalScreen(Array(ended.output.dropLast(summary.count).utf8))
    #expect(live.widest < columns, "\(live.widest)")
    #expect(live.lines.count == 1)
  }

  @Test("an error on a terminal clears the live line first")
  func error() throws {
    let arena = try Arena(["/f": resource])
    let process = try HaulProcess.start(
      arena.arguments("/f", []), output: .terminal(columns: 100))
    #expect(process.waitForOutput { text, _ in text.contains("MB/9.0 MB") })
    process.signal(SIGINT)
    let ended = process.wait()
    #expect(ended.end == .exit(130))
    let lines = TerminalScreen(ended.stdout).lines.filter { !$0.isEmpty }
    #expect(lines.count == 3 && lines.allSatisfy { $0.hasPrefix("haul: ") }, "\(lines)")
  }

  @Test("-q on a terminal draws nothing")
  func quiet() throws {
    let arena = try Arena(["/f": resource])
    arena.origin.openGate("gate")
    let process = try HaulProcess.start(arena.arguments("/f", ["-q"]), output: .terminal(columns: 80))
    let ended = process.wait()
    #expect(ended.end == .exit(0) && ended.stdout.isEmpty)
  }

  @Test("elsewhere there is a plain line now and then, on standard error")
  func plain() throws {
    let arena = try Arena(["/f": resource])
    let process = try arena.start("/f", "-c", "2")
    #expect(process.waitForOutput { $1.contains("\n") })
    arena.origin.openGate("gate")
    let ended = process.wait()
    #expect(ended.end == .exit(0))
    #expect(ended.stderr.isHarmlessText && ended.stdout.isHarmlessText)
    let lines = ended.errors.split(separator: "\n")
    #expect(lines.first?.hasPrefix("haul: f: ") == true && lines.first?.contains(" MB of 9.0 MB (") == true)
    #expect(lines.first?.hasSuffix("connections") == true)
  }
}
