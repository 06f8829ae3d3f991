// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Haul
@testable import HaulCommand

/// Lines, maps and documents about unfinished files, from values.
struct PartialRenderTests {
  private static let now = 1_800_000_000

  private func manifest() -> PartialManifest {
    PartialManifest(
      source: "https://example.org/f", validator: .strongETag, length: 10 << 20, chunkSize: 1 << 20,
      chunkCount: 10, durableChunks: [0..<4], writtenChunks: [6..<7], durableBytes: 4 << 20,
      writtenBytes: 1 << 20, created: Self.now - 86_400 * 3, lastWritten: Self.now - 60, expected: nil,
      hasStoppedCleanly: true, digestDiffered: false, isUnsynced: false,
      slots: [.init(name: "A", sequence: 3), .init(name: "B", sequence: nil)], countingSlot: "A")
  }

  private func partial(_ state: Partial.State, _ manifest: PartialManifest? = nil) -> Partial {
    Partial(
      directory: "/d", name: "f", state: state, partBytes: 10 << 20, allocatedBytes: 5 << 20,
      manifest: manifest)
  }

  private let report = PartialReport(now: now, columns: 60, usesBlocks: false)

  @Test("each chunk has its cell, and where cells are fewer they say what all their chunks are")
  func map() {
    var map = ChunkMap(count: 10, durable: [0..<4], written: [6..<7], usesBlocks: false)
    #expect(map.row(width: 80) == "####..+...")
    #expect(map.row(width: 5) == "##.:.")
    #expect(map.row(width: 1) == ":")
    map.written = [4..<10]
    #expect(map.row(width: 5) == "##+++" && map.row(width: 2) == "++")
    let many = ChunkMap(
      count: 1 << 20, durable: [0..<1 << 19, (1 << 20) - 1..<1 << 20], written: [], usesBlocks: true)
    #expect(
      many.row(width: 64) == String(repeating: "█", count: 32) + String(repeating: "░", count: 31) + "▒")
  }

  @Test("an inspection fits 60 columns and tells amounts, ages and slots")
  func inspection() {
    let lines = report.inspection(partial(.resumable, manifest()))
    #expect(lines.first == "f: 5.2 MB of 10.5 MB (50%), resumable")
    #expect(lines.allSatisfy { $0.count <= 60 }, "\(lines)")
    #expect(lines.contains { $0.hasPrefix("begun ") && $0.hasSuffix(", 3 days ago") })
    #expect(lines.contains { $0.hasPrefix("last commit ") && $0.hasSuffix(", 60 seconds ago") })
    #expect(lines.contains("slots        A state 3, counts; B not valid"))
  }

  @Test("a clock of another world shows no age", arguments: [Int.min, -1, now + 5, .max])
  func clocks(created: Int) {
    var strange = manifest()
    (strange.created, strange.lastWritten) = (created, created)
    let lines = report.inspection(partial(.resumable, strange)) + report.list([partial(.resumable, strange)])
    #expect(!lines.contains { $0.contains("-") && $0.contains("ago") })
    #expect(lines.contains { $0.hasPrefix("begun ") })
  }

  @Test("text from a manifest or a name cannot act on a terminal")
  func escapes() throws {
    var poisoned = partial(.damaged(why: "\u{1b}[2J"), manifest())
    poisoned.name = "\u{9b}x\u{202e}"
    poisoned.manifest?.source = "\u{7}"
    let text = (report.inspection(poisoned) + report.list([poisoned])).joined(separator: "\n")
    #expect(Array(text.utf8).isHarmlessText && text.contains("\\x1b[2J") && text.contains("\\x9b"))
    let document = PartialDocument.one(poisoned).lines
    #expect(Array(document.utf8).isHarmlessText)
    let read = try JSONSerialization.jsonObject(with: Data(document.utf8)) as? [String: Any]
    #expect(read?["name"] as? String == poisoned.name && read?["problem"] as? String == "\u{1b}[2J")
  }

  @Test("JSON quotes what it has to")
  func json() {
    #expect(JSONValue.text("a\"b\\c/\u{0}é\u{2028}").lines == #""a\"b\\c/\u0000é\u2028""#)
    #expect(JSONValue.list([.list([.number(1), .number(-2)]), .null]).lines == "[[1, -2], null]")
    #expect(JSONValue.object([("a", .bool(true))]).lines == "{\n  \"a\": true\n}")
  }
}
