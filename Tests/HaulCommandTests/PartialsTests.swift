// SPDX-License-Identifier: Apache-2.0

import Foundation
import HaulOrigin
import TestSupport
import Testing

@testable import HaulCommand

/// `haul partials`: lists what is unfinished, and removes what nobody holds.
@Suite(.timeLimit(.minutes(10)))
struct PartialsTests {
  /// One file in each state, beside files of others.
  private func scene() throws -> Leftovers {
    let left = try Leftovers(["/g": .reference(seed: 3, length: 9_000_000).gated(at: 500_000)])
    try left.stopped()
    try left.copy("f.haul", to: "alone.haul")
    try left.copy("f.haul-part", to: "bare.haul-part")
    try left.copy("f.haul", to: "broken.haul")
    try left.copy("f.haul-part", to: "broken.haul-part")
    try left.damage("broken.haul", at: [100, 4096 + 100])
    try left.copy("f.haul-part", to: "foreign.haul-part")
    try Files.write("my own notes", to: left.path("foreign.haul"))
    try Files.write("my own notes", to: left.path("notes.haul"))
    try Files.write("", to: left.path("empty.haul"))
    try Files.write("done", to: left.path("finished"))
    symlink(left.path("finished"), left.path("linked.haul-part"))
    return left
  }

  private static let others = [
    "empty.haul", "finished", "foreign.haul", "foreign.haul-part", "linked.haul-part", "notes.haul",
  ]

  private func states(_ json: [String: Any]) throws -> [String: String] {
    let partials = try #require(json["partials"] as? [[String: Any]])
    let pairs = partials.map { ($0["name"] as? String ?? "", $0["state"] as? String ?? "") }
    return Dictionary(pairs) { first, _ in first }
  }

  @Test("every state is told by its name, and another program's files are not listed")
  func list() throws {
    let left = try scene()
    let before = try left.picture()
    let json = try object(HaulProcess.run(["partials", left.arena.folder.path, "--json"]))
    #expect(json["format"] as? String == "haul-partials" && json["version"] as? Int == 1)
    #expect(
      try states(json) == [
        "alone": "manifest-without-part", "bare": "part-without-manifest", "broken": "damaged",
        "f": "resumable", "foreign": "foreign", "linked": "foreign",
      ])
    // Without a folder it is the current one.
    let ended = try HaulProcess.run(["partials"], in: left.arena.folder.path)
    #expect(ended.end == .exit(0) && ended.errors.isEmpty && ended.stdout.isHarmlessText)
    let lines = ended.output.split(separator: "\n").map(String.init)
    #expect(lines.filter { !$0.hasPrefix(" ") }.count == 7, "\(lines)")
    #expect(
      lines.contains { $0.hasPrefix("f: ") && $0.contains(" of 40.0 MB (") && $0.hasSuffix("), resumable") })
    #expect(lines.contains { $0.hasPrefix("  \(left.arena.origin.url("/f")), ") && $0.hasSuffix(" ago") })
    #expect(lines.last?.hasPrefix("6 unfinished in ., ") == true)
    #expect(try left.picture() == before)
  }

  @Test("--remove takes what is unfinished and nobody holds, and nothing else")
  func remove() throws {
    let left = try scene()
    let running = try left.arena.start("/g", "-c", "2")
    #expect(
      left.arena.origin.waitUntil(timeout: .seconds(30)) {
        $0.requests.count { $0.heldAt != nil && $0.target.hasSuffix("/g") } >= 2
      })
    let before = try left.picture().filter { picture in Self.others.contains { picture.hasPrefix($0 + " ") } }
    let ended = try HaulProcess.run(["partials", left.arena.folder.path, "--remove"])
    #expect(ended.end == .exit(0), "\(ended.errors)")
    for name in ["alone", "bare", "broken", "f"] { #expect(ended.output.contains("removed \(name): ")) }
    #expect(ended.output.contains("4 removed in ") && ended.output.contains(" freed, 3 left alone\n"))
    #expect(ended.errors.split(separator: "\n").count == 3 && ended.errors.contains("(\(running.pid))"))
    let rest = left.arena.names.filter { !$0.hasPrefix("g.") }
    #expect(rest == Self.others)
    #expect(try left.picture().filter { !$0.hasPrefix("g.") } == before)
    left.arena.origin.openGate("gate")
    #expect(running.wait().end == .exit(0))
    #expect(Files.size(of: left.path("g")) == 9_000_000)
  }

  @Test("what a finish left beside the finished file goes, the file stays")
  func finished() throws {
    let left = try Leftovers()
    try left.stopped()
    rename(left.path("f.haul-part"), left.path("f"))
    let before = try Files.bytes(of: left.path("f")).count
    let json = try object(HaulProcess.run(["partials", left.arena.folder.path, "--json"]))
    #expect(try states(json) == ["f": "finished"])
    #expect(try HaulProcess.run(["partials", left.arena.folder.path, "--remove"]).end == .exit(0))
    #expect(left.arena.names == ["f"])
    #expect(Files.size(of: left.path("f")) == before)
  }

  @Test("--remove --json tells of each whether it was removed")
  func removedDocument() throws {
    let left = try scene()
    let json = try object(HaulProcess.run(["partials", left.arena.folder.path, "--remove", "--json"]))
    let partials = try #require(json["partials"] as? [[String: Any]])
    let removed = partials.filter { $0["removed"] as? Bool == true }.compactMap { $0["name"] as? String }
    #expect(removed == ["alone", "bare", "broken", "f"])
    #expect(left.arena.names == Self.others)
  }

  @Test("an empty folder is no error, a missing one is")
  func empty() throws {
    let left = try Leftovers()
    let ended = try HaulProcess.run(["partials", left.arena.folder.path])
    #expect(ended.end == .exit(0) && ended.output == "nothing unfinished in \(left.arena.folder.path)\n")
    let missing = try HaulProcess.run(["partials", left.path("no")])
    #expect(missing.end == .exit(14) && missing.stdout.isEmpty)
  }
}
