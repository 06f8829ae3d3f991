// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

/// What a hostile server can put onto a terminal: nothing but visible text.
@Suite(.timeLimit(.minutes(10)))
struct HostileTerminalTests {
  /// Clipboard (OSC 52), title, clear, C1 in UTF-8 and as a raw byte, a turn of direction, and no UTF-8 at all.
  private static let poison: [UInt8] =
    Array("\u{1b}]52;c;ZXZpbA==\u{7}\u{1b}[2J\u{9b}31m\u{202e}evil\u{8}".utf8)
  private static let shown = "\\x1b]52;c;ZXZpbA==\\x07\\x1b[2J\\x9b31m<U+202E>evil\\x08"

  private static func answer(_ before: String, _ after: String) -> [UInt8] {
    Array(before.utf8) + poison + Array((after + "\r\n\r\n").utf8)
  }

  /// A place for the poison, and whether the message repeats it.
  private static let answers: [(String, [UInt8], Bool)] = [
    ("reason phrase", answer("HTTP/1.1 404 ", "\r\nContent-Length: 0"), false),
    ("Location's scheme", answer("HTTP/1.1 302 x\r\nLocation: ", "://h/"), false),
    ("Location's host", answer("HTTP/1.1 302 x\r\nLocation: http://", "/x"), false),
    ("Content-Encoding", answer("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Encoding: ", ""), true),
    ("Content-Range", answer("HTTP/1.1 206 x\r\nContent-Length: 1\r\nContent-Range: bytes ", ""), false),
    ("no HTTP at all", answer("SSH-2.0-", ""), false),
  ]

  private func lines(_ ended: ChildProcess.Ended) -> [String] {
    let screen = TerminalScreen(ended.stdout)
    #expect(screen.unknown.isEmpty, "\(screen.unknown)")
    // The screen knows carriage return, line feed and "clear to the end"; anything else must be a visible byte.
    let rest = ended.output.replacing("\u{1b}[K", with: "").utf8.filter { $0 != UInt8(ascii: "\r") }
    #expect(rest.isHarmlessText, "\(ended.output.debugDescription)")
    return screen.lines.filter { !$0.isEmpty }
  }

  @Test("an error that a hostile answer causes is visible text alone", arguments: answers)
  func errors(place: String, answer: [UInt8], isRepeated: Bool) throws {
    let arena = try Arena([
      "/f": .reference(seed: 1, length: 1, faults: [Fault.rawResponse(answer).on(.every)])
    ])
    let process = try arena.start("/f", "--retries", "0", output: .terminal(columns: 500))
    let ended = process.wait()
    #expect(ended.code != 0)
    let lines = lines(ended)
    #expect(!lines.isEmpty && lines.allSatisfy { $0.hasPrefix("haul: ") }, "\(place): \(lines)")
    #expect(lines.contains { $0.contains(arena.origin.url("/f")) }, "\(place): \(lines)")
    // Codings are compared in lower case, and shown so.
    if isRepeated {
      #expect(lines.contains { $0.lowercased().contains(Self.shown.lowercased()) }, "\(place): \(lines)")
    }
  }

  @Test("a name from the server shows the same in the live line and in the summary")
  func name() throws {
    var resource = OriginResource.reference(seed: 1, length: 9_000_000).gated(at: 1_000_000)
    resource.contentDisposition =
      "attachment; filename=\"\(String(decoding: Self.poison, as: UTF8.self)).iso\""
    let arena = try Arena(["/": resource])
    let process = try arena.start("/", output: .terminal(columns: 100))
    #expect(process.waitForOutput { text, _ in text.contains("MB/9.0 MB") })
    arena.origin.openGate("gate")
    let ended = process.wait()
    #expect(ended.end == .exit(0))
    #expect(arena.names == ["]52;c;ZXZpbA==[2J31mevil.iso"])
    let lines = lines(ended)
    // What it was called before is shown, and does nothing.
    #expect(
      lines.contains { $0.contains("named ]52;c;ZXZpbA==[2J31mevil.iso here: '\(Self.shown).iso'") },
      "\(lines)")
    #expect(
      lines.contains { $0.hasPrefix("\(arena.folder.path)/]52;c;ZXZpbA==[2J31mevil.iso: 9.0 MB in ") },
      "\(lines)")
  }

  private static func field(_ before: String, _ raw: [UInt8], _ after: String = "") -> [UInt8] {
    Array("attachment; filename=\(before)".utf8) + raw + Array(after.utf8)
  }

  private static let foreign: [([UInt8], String)] = [
    (field("\"caf", [0xe9], ".iso\""), "caf\u{e9}.iso"),
    (field("\"caf", [0xc3, 0xa9], ".iso\""), "caf\u{e9}.iso"),
    (field("\"a", [0x9b, 0xff], "b\""), "a\u{ff}b"),
    (field("", [0xc3, 0x28]), "\u{c3}("),
  ]

  @Test("header bytes that are no UTF-8 are read as Latin-1 and shown as such", arguments: foreign)
  func notUTF8(field: [UInt8], name: String) throws {
    var answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nX: ".utf8)
    answer += [0xff, 0xfe]
    answer += Array("\r\nContent-Disposition: ".utf8) + field + Array("\r\n\r\nx".utf8)
    let arena = try Arena([
      "/": .reference(seed: 1, length: 1, faults: [Fault.rawResponse(answer).on(.every)])
    ])
    let ended = try arena.run("/")
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(arena.names.map { Array($0.utf8) } == [Array(name.utf8)])
    #expect(ended.stdout.isHarmlessText && ended.stderr.isHarmlessText)
  }
}
