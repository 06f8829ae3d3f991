// SPDX-License-Identifier: Apache-2.0

import Foundation
import HaulOrigin
import TestSupport
import Testing

@testable import HaulCommand

/// `haul inspect`: tells what is there, and touches nothing.
@Suite(.timeLimit(.minutes(10)))
struct InspectTests {
  @Test("by each of its names a partial file shows the same, and nothing is touched")
  func names() throws {
    let left = try Leftovers()
    try left.stopped()
    let before = try left.picture()
    var outputs: Set<String> = []
    for name in ["f", "f.haul-part", "f.haul"] {
      let ended = try HaulProcess.run(["inspect", left.path(name)])
      #expect(ended.end == .exit(0) && ended.errors.isEmpty, "\(ended.errors)")
      // Ages may pass a second in between.
      outputs.insert(
        ended.output.split(separator: "\n").filter { !$0.contains(" ago") }.joined(separator: "\n"))
    }
    #expect(outputs.count == 1)
    let output = try #require(outputs.first)
    #expect(output.hasPrefix("f: ") && output.contains(" of 40.0 MB (") && output.contains("), resumable\n"))
    #expect(output.contains(left.arena.origin.url("/f") + "\n"))
    #expect(
      output.contains("strong ETag") && output.contains("stopped in order") && output.contains("counts"))
    #expect(try left.picture() == before)
    left.arena.origin.openGate("gate")
    #expect(try left.arena.run("/f").end == .exit(0))
    #expect(try left.arena.holds("f", left.content))
  }

  @Test("the JSON tells which chunks are durable, and every one of them has the server's bytes")
  func document() throws {
    let left = try Leftovers()
    try left.stopped()
    let json = try object(HaulProcess.run(["inspect", left.path("f"), "--json"]))
    #expect(json["format"] as? String == "haul-partial" && json["version"] as? Int == 1)
    #expect(json["name"] as? String == "f" && json["directory"] as? String == left.arena.folder.path)
    #expect(json["state"] as? String == "resumable" && json["process"] is NSNull)
    let manifest = try #require(json["manifest"] as? [String: Any])
    #expect(manifest["source"] as? String == left.arena.origin.url("/f"))
    #expect(manifest["validator"] as? String == "strong-etag" && manifest["clean_stop"] as? Bool == true)
    #expect(manifest["length"] as? Int == Leftovers.length && manifest["expected_digest"] is NSNull)
    let size = try #require(manifest["chunk_size"] as? Int)
    let durable = try #require(manifest["durable_chunks"] as? [[Int]])
    let part = try Files.bytes(of: left.path("f.haul-part"))
    var whole = 0
    for run in durable {
      let range = run[0] * size..<min((run[0] + run[1]) * size, Leftovers.length)
      #expect(Array(part[range]) == left.content.bytes(in: range))
      whole += range.count
    }
    let bytes = try #require(manifest["durable_bytes"] as? Int)
    // The rest are beginnings of chunks.
    #expect(whole >= 4 << 20 && bytes > whole && bytes < Leftovers.length)
    let created = try #require(manifest["created"] as? Int)
    let now = Int(Date().timeIntervalSince1970)
    #expect((now - 600...now).contains(created))
  }

  @Test("a download that is running is shown with its process and not disturbed")
  func running() throws {
    let left = try Leftovers()
    let process = try left.arena.start("/f", "-c", "2")
    #expect(left.arena.waitUntilHeld(2))
    let ended = try HaulProcess.run(["inspect", left.path("f")])
    #if os(Linux)
    #expect(ended.end == .exit(0) && ended.output.contains("running in process \(process.pid)\n"))
    #else
    #expect(ended.stdout.isHarmlessText)
    #endif
    left.arena.origin.openGate("gate")
    #expect(process.wait().end == .exit(0))
    #expect(try left.arena.holds("f", left.content))
  }

  @Test("a damaged manifest is called damaged and left as it is, while one good copy of its header does")
  func damaged() throws {
    let left = try Leftovers()
    try left.stopped()
    try left.damage("f.haul", at: [100])
    #expect(try HaulProcess.run(["inspect", left.path("f")]).end == .exit(0))
    try left.damage("f.haul", at: [4096 + 100])
    let before = try left.picture()
    let ended = try HaulProcess.run(["inspect", left.path("f")])
    #expect(ended.end == .exit(1) && ended.output.contains("damaged (a header's hash does not match)"))
    let json = try object(HaulProcess.run(["inspect", left.path("f"), "--json"]))
    #expect(json["state"] as? String == "damaged" && json["manifest"] is NSNull)
    #expect((json["problem"] as? String)?.contains("hash") == true)
    #expect(try left.picture() == before)
  }

  @Test("with one slot torn the other counts, with both torn only sums do")
  func slots() throws {
    let left = try Leftovers()
    try left.stopped()
    let size = try #require(Files.size(of: left.path("f.haul")))
    let slotSize = 16384  // 40 chunks: header and prefixes, and a word of bits, in pages
    func slots() throws -> (counting: String?, json: [String: Any]) {
      let json = try object(HaulProcess.run(["inspect", left.path("f"), "--json"]))
      let manifest = try #require(json["manifest"] as? [String: Any])
      return (manifest["counting_slot"] as? String, manifest)
    }
    let first = try #require(try slots().counting)
    let offset = ["A": size - 2 * slotSize, "B": size - slotSize]
    try left.damage("f.haul", at: [try #require(offset[first]) + 70])
    let second = try slots().counting
    #expect(second != first)
    if let second { try left.damage("f.haul", at: [try #require(offset[second]) + 70]) }
    let (none, manifest) = try slots()
    #expect(none == nil && manifest["durable_bytes"] as? Int == 0)
    #expect(try #require(manifest["written_bytes"] as? Int) >= 4 << 20)
  }

  @Test(
    "whatever is planted at the names is neither followed nor waited for",
    arguments: ["link", "fifo", "folder"])
  func planted(what: String) throws {
    let left = try Leftovers()
    try left.stopped("other")
    let manifest = left.path("f.haul")
    try left.copy("other.haul-part", to: "f.haul-part")
    switch what {
    case "link": symlink(left.path("other.haul"), manifest)
    case "fifo": mkfifo(manifest, 0o600)
    default: mkdir(manifest, 0o700)
    }
    let ended = try HaulProcess.run(["inspect", left.path("f")])
    #expect(ended.end == .exit(1) && ended.output.contains("not Haul's (the manifest: "), "\(ended.output)")
    #expect(!ended.output.contains("resumable"))
  }

  @Test("a name that acts on terminals is shown escaped, in both forms")
  func hostileName() throws {
    let left = try Leftovers()
    try left.stopped()
    let name = "\u{1b}[2J\u{202e}x\u{9b}31m"
    try left.copy("f.haul", to: name + ".haul")
    try left.copy("f.haul-part", to: name + ".haul-part")
    let ended = try HaulProcess.run(["inspect", left.path(name)])
    #expect(ended.stdout.isHarmlessText && ended.output.contains("\\x1b[2J<U+202E>x\\x9b31m: "))
    let json = try HaulProcess.run(["inspect", left.path(name), "--json"])
    #expect(json.output.contains("\"\\u001b[2J\\u202ex\\u009b31m\""))
    #expect(try object(json)["name"] as? String == name)
    let missing = try HaulProcess.run(["inspect", left.path(name + "y")])
    #expect(missing.end == .exit(14) && missing.stderr.isHarmlessText && missing.errors.contains("\\x1b"))
  }

  @Test("a file called like a manifest is found by its own name first")
  func suffixInName() throws {
    let left = try Leftovers()
    try left.stopped("x.haul")
    let json = try object(HaulProcess.run(["inspect", left.path("x.haul"), "--json"]))
    #expect(json["name"] as? String == "x.haul")
  }

  @Test("where there is nothing it says so", arguments: [("f", 14), ("no/f", 14), ("", 64), ("..", 64)])
  func nothing(name: String, code: Int32) throws {
    let left = try Leftovers()
    let ended = try HaulProcess.run(["inspect", name.isEmpty ? "" : left.path(name)])
    #expect(
      ended.end == .exit(code) && ended.stdout.isEmpty && ended.errors.hasPrefix("haul: "), "\(ended.errors)")
  }

  @Test("the chunk map fits the terminal", arguments: [20, 60, 120])
  func width(columns: Int) throws {
    let left = try Leftovers()
    try left.stopped()
    let ended = try HaulProcess.start(
      ["inspect", left.path("f")], output: .terminal(columns: columns)
    ).wait()
    let map = ended.output.split(whereSeparator: \.isNewline).filter { $0.allSatisfy("█▓▒░".contains) }
    #expect(map.map(\.count) == [min(columns, 39)])
  }
}
