// SPDX-License-Identifier: Apache-2.0

import Foundation
import HaulOrigin
import TestSupport
import Testing

@testable import HaulCommand

/// `haul repair`.
@Suite(.timeLimit(.minutes(10)))
struct RepairTests {
  private static let length = 20_000_000
  private let content = ReferenceContent(seed: 32, length: length)
  private let resource = OriginResource.reference(seed: 32, length: length)

  private func scene() throws -> (Arena, digest: String) {
    let arena = try Arena(["/f": resource])
    try Files.write(arena.folder.path(of: "f"), length: Self.length) { content.fill($0, at: $1) }
    let output = try HaulProcess.run(["verify", arena.folder.path(of: "f")]).output
    return (arena, output.split(separator: " ").dropLast().last.map(String.init) ?? "")
  }

  private func damage(_ path: String, at offset: Int) throws {
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try handle.seek(toOffset: UInt64(offset))
    try handle.write(contentsOf: Data(repeating: 0x99, count: 5))
    try handle.close()
  }

  @Test("a file that has its digest needs nothing, and nobody is asked")
  func whole() throws {
    let (arena, digest) = try scene()
    let ended = try HaulProcess.run([
      "repair", arena.folder.path(of: "f"), arena.origin.url("/f"), "--sha256", digest,
    ])
    #expect(ended.end == .exit(0) && ended.output.contains(" verified\n"))
    #expect(arena.origin.requests().isEmpty)
  }

  @Test("a damaged file is replaced by one that has the digest, in one step")
  func damaged() throws {
    let (arena, digest) = try scene()
    let path = arena.folder.path(of: "f")
    try damage(path, at: 7_000_000)
    let ended = try HaulProcess.run(["repair", path, arena.origin.url("/f"), "--sha256", digest])
    #expect(
      ended.end == .exit(0) && ended.errors.contains("nothing tells which bytes are wrong"), "\(ended.errors)"
    )
    #expect(try arena.holds("f", content))
    #expect(arena.names == ["f"])
  }

  @Test("where what comes has not the digest either, the file stays as it was")
  func wrongServer() throws {
    let (arena, digest) = try scene()
    let path = arena.folder.path(of: "f")
    try damage(path, at: 7_000_000)
    let before = Leftovers.Picture(path)
    let other = try Arena(["/f": .reference(seed: 99, length: Self.length)])
    let ended = try HaulProcess.run(["repair", path, other.origin.url("/f"), "--sha256", digest])
    #expect(ended.end == .exit(13), "\(ended.errors)")
    #expect(Leftovers.Picture(path) == before)
  }

  @Test("a part beside the damaged file that belongs to another download is left alone")
  func occupied() throws {
    let left = try Leftovers()
    try left.stopped()
    try Files.write("damaged", to: left.path("f"))
    let before = try left.picture()
    let requests = left.arena.origin.requests().count
    let ended = try HaulProcess.run([
      "repair", left.path("f"), left.arena.origin.url("/f"), "--sha256", String(repeating: "a", count: 64),
    ])
    #expect(ended.end == .exit(16) && ended.errors.contains("belongs to another download"), "\(ended.errors)")
    #expect(try left.picture() == before && left.arena.origin.requests().count == requests)
  }

  @Test("a repair that was stopped goes on with the same command, and the file stays until its end")
  func resumed() throws {
    let left = try Leftovers()
    let path = left.path("f")
    try Files.write(path, length: Leftovers.length) { left.content.fill($0, at: $1) }
    let digest = try HaulProcess.run(["verify", path]).output.split(separator: " ").dropLast().last ?? ""
    try damage(path, at: 5)
    let before = Leftovers.Picture(path)
    let arguments = ["repair", path, left.arena.origin.url("/f"), "--sha256", String(digest), "-c", "2"]
    let process = try HaulProcess.start(arguments)
    #expect(left.arena.waitUntilHeld(2))
    process.signal(SIGINT)
    #expect(process.wait().end == .exit(130))
    #expect(Leftovers.Picture(path) == before)
    left.arena.origin.openGate("gate")
    let ended = try HaulProcess.run(arguments)
    #expect(ended.end == .exit(0) && ended.errors.contains("going on: "), "\(ended.errors)")
    #expect(try left.arena.holds("f", left.content))
    #expect(left.arena.names == ["f"])
  }

  @Test(
    "of an unfinished file only what is damaged or missing is fetched",
    arguments: ["f", "f.haul-part", "f.haul"])
  func unfinished(name: String) throws {
    let left = try Leftovers()
    try left.stopped()
    try damage(left.path("f.haul-part"), at: 1_500_000)
    left.arena.origin.openGate("gate")
    let before = left.arena.origin.requests().count
    let ended = try HaulProcess.run(["repair", left.path(name), left.arena.origin.url("/f")])
    #expect(
      ended.end == .exit(0) && ended.errors.contains("1 damaged chunk on the disk, fetched again"),
      "\(ended.errors)")
    #expect(try left.arena.holds("f", left.content))
    let asked = left.arena.origin.journal().requested(from: before, length: Leftovers.length)
    #expect(asked.first == 1 << 20..<2 << 20, "\(asked)")
    #expect(asked.reduce(0) { $0 + $1.count } < Leftovers.length - (3 << 20))
  }

  @Test(
    "without a digest a finished file is not touched; nothing there is an error",
    arguments: [("f", 64), ("g", 14)])
  func usage(name: String, code: Int32) throws {
    let (arena, _) = try scene()
    let ended = try HaulProcess.run(["repair", arena.folder.path(of: name), arena.origin.url("/f")])
    #expect(ended.end == .exit(code) && arena.origin.requests().isEmpty, "\(ended.errors)")
    #expect(arena.names == ["f"])
  }
}
