// SPDX-License-Identifier: Apache-2.0

import Foundation
import HaulOrigin
import TestSupport
import Testing

@testable import HaulCommand

/// `haul adopt`: what another program has begun is compared, taken over and completed, or left as it was.
@Suite(.timeLimit(.minutes(10)))
struct AdoptTests {
  private static let length = 200_000_000
  private static let mebibyte = 1 << 20
  private let content = ReferenceContent(seed: 31, length: length)
  private let resource = OriginResource.reference(seed: 31, length: length)

  /// Writes the first `count` bytes of the file, as another program leaves them.
  private func leave(_ name: String, _ count: Int, in arena: Arena, zeros: Int = 0, mode: mode_t = 0o644)
    throws
  {
    try Files.write(arena.folder.path(of: name), length: count + zeros) { buffer, offset in
      buffer.initializeMemory(as: UInt8.self, repeating: 0)
      let end = min(count, offset + buffer.count)
      if offset < end {
        content.fill(UnsafeMutableRawBufferPointer(rebasing: buffer[..<(end - offset)]), at: offset)
      }
    }
    chmod(arena.folder.path(of: name), mode)
  }

  private func adopt(_ arena: Arena, _ name: String, _ more: String...) throws -> ChildProcess.Ended {
    try HaulProcess.run(["adopt", arena.folder.path(of: name), arena.origin.url("/f")] + more)
  }

  private func sum(_ arena: Arena) throws -> String {
    let whole = arena.folder.path(of: "whole")
    try Files.write(whole, length: Self.length) { content.fill($0, at: $1) }
    defer { unlink(whole) }
    return try HaulProcess.run(["verify", whole]).output.split(separator: " ").dropLast().last.map(
      String.init) ?? ""
  }

  private static let names = [("f", "f"), ("f.part", "f"), ("f.iso.crdownload", "f.iso"), ("a.b", "a.b")]

  @Test(
    "a good partial is completed under its name, and only the rest, the tail and a sample is fetched",
    arguments: names)
  func good(partial: String, final: String) throws {
    let arena = try Arena(["/f": resource])
    try leave(partial, 150_000_000, in: arena, mode: 0o664)
    let ended = try adopt(arena, partial)
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(arena.names == [final])
    #expect(try arena.holds(final, content))
    // 143 whole chunks, the last of them within the last MiB. Compared: first, last, and one of each 64, which may
    // be the same.
    let compared = (3...5).filter {
      ended.errors.contains("142 chunks taken over: \($0) of them were compared")
        && ended.output.contains("unproven: \(142 - $0) of the 142 chunks")
    }
    #expect(compared.count == 1, "\(ended.errors) \(ended.output)")
    let sent = arena.origin.journal().requests.reduce(0) { $0 + $1.bodyBytesSent }
    #expect(sent < 50_000_000 + 20 * Self.mebibyte, "\(sent)")
  }

  @Test("with a digest it is verified, and nothing is called unproven")
  func verified() throws {
    let arena = try Arena(["/f": resource])
    let digest = try sum(arena)
    try leave("f", 150_000_000, in: arena)
    let ended = try adopt(arena, "f", "--sha256", digest)
    #expect(
      ended.end == .exit(0) && ended.output.contains(" verified\n") && !ended.output.contains("unproven"))
    #expect(try arena.holds("f", content))
  }

  @Test(
    "a partial of another file is refused and stays byte for byte, whatever of it differs",
    arguments: [0, 77, 142])
  func other(chunk: Int) throws {
    let arena = try Arena(["/f": resource])
    // One block differs: the first, all of the middle stretch, or the last that counts.
    try leave("f.part", 150_000_000, in: arena)
    let path = arena.folder.path(of: "f.part")
    let range =
      chunk == 77
      ? 64 * Self.mebibyte..<128 * Self.mebibyte
      : (chunk == 142 ? 141 : 0) * Self.mebibyte..<(chunk == 142 ? 142 : 1) * Self.mebibyte
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try handle.seek(toOffset: UInt64(range.lowerBound))
    try handle.write(contentsOf: Data(repeating: 7, count: range.count))
    try handle.close()
    let left = Leftovers.Picture(path)
    let ended = try adopt(arena, "f.part")
    #expect(ended.end == .exit(16) && ended.errors.contains("its bytes differ"), "\(ended.errors)")
    #expect(ended.errors.contains("nothing was touched"))
    #expect(arena.names == ["f.part"])
    #expect(Leftovers.Picture(path) == left)
  }

  @Test("zeros at the end are room set aside, not content")
  func preallocated() throws {
    let arena = try Arena(["/f": resource])
    try leave("f.crdownload", 80_000_000, in: arena, zeros: 120_000_000)
    let ended = try adopt(arena, "f.crdownload")
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(ended.errors.contains("75 chunks taken over"), "\(ended.errors)")
    #expect(try arena.holds("f", content))
    #expect(arena.names == ["f"])
  }

  @Test(
    "what cannot be taken over is refused before anything is asked or touched",
    arguments: ["link", "folder", "fifo", "missing"])
  func unusable(what: String) throws {
    let arena = try Arena(["/f": resource])
    let path = arena.folder.path(of: "f.part")
    switch what {
    case "link": symlink("/etc/hostname", path)
    case "folder": mkdir(path, 0o700)
    case "fifo": mkfifo(path, 0o600)
    default: break
    }
    let ended = try adopt(arena, "f.part")
    #expect(ended.end == .exit(14) && arena.origin.requests().isEmpty, "\(ended.errors)")
    #expect(arena.names == (what == "missing" ? [] : ["f.part"]))
  }

  @Test("names that are taken stay as they are", arguments: ["f", "f.haul-part", "f.haul"])
  func taken(name: String) throws {
    let arena = try Arena(["/f": resource])
    try leave("f.part", 10_000_000, in: arena)
    try Files.write("mine", to: arena.folder.path(of: name))
    let ended = try adopt(arena, "f.part")
    #expect(ended.end == .exit(16) && ended.errors.contains("is there already"), "\(ended.errors)")
    #expect(try Files.text(of: arena.folder.path(of: name)) == "mine")
    #expect(arena.names == [name, "f.part"].sorted())
    #expect(Files.size(of: arena.folder.path(of: "f.part")) == 10_000_000)
  }

  @Test("too little, too much, no ranges, no validator: each is refused, and the file stays")
  func refused() throws {
    var ranges = resource
    ranges.supportsRanges = false
    var nameless = resource
    (nameless.etag, nameless.lastModified) = (nil, nil)
    for (resource, count, zeros, word) in [
      (resource, 2_000_000, 0, "too little"), (resource, 0, 30_000_000, "too little"),
      (resource, Self.length, 5, "longer"), (ranges, 30_000_000, 0, "cannot send the parts"),
      (nameless, 30_000_000, 0, "no validator"),
    ] {
      let arena = try Arena(["/f": resource])
      try leave("f.part", count, in: arena, zeros: zeros)
      let ended = try adopt(arena, "f.part")
      #expect(ended.end == .exit(16) && ended.errors.contains(word), "\(ended.errors)")
      #expect(arena.names == ["f.part"])
      #expect(Files.size(of: arena.folder.path(of: "f.part")) == count + zeros)
    }
  }

  @Test("a server that fails leaves the file as it was")
  func unreachable() throws {
    let arena = try Arena([
      "/f": .reference(seed: 31, length: Self.length, faults: [Fault.status(404).on(.every)])
    ])
    try leave("f.part", 10_000_000, in: arena)
    #expect(try adopt(arena, "f.part").end == .exit(11))
    #expect(arena.names == ["f.part"])
  }

  @Test(
    "stopped after it was taken over, the plain command and the same one go on from it",
    arguments: [SIGINT, SIGKILL])
  func interrupted(signal: Int32) throws {
    // No request of the sample is as long as that.
    let arena = try Arena(["/f": resource.gated(at: 3_500_000)])
    try leave("f.part", 150_000_000, in: arena)
    let process = try HaulProcess.start([
      "adopt", arena.folder.path(of: "f.part"), arena.origin.url("/f"), "-c", "1",
    ])
    #expect(
      arena.origin.waitUntil(timeout: .seconds(30)) {
        $0.requests.contains { $0.heldAt != nil && $0.contentStart == 142 << 20 }
      })
    process.signal(signal)
    _ = process.wait()
    #expect(arena.names == ["f.haul", "f.haul-part"])
    arena.origin.openGate("gate")
    let before = arena.origin.requests().count
    let ended = signal == SIGINT ? try arena.run("/f") : try adopt(arena, "f.part")
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(try arena.holds("f", content))
    let asked = arena.origin.journal().requested(from: before, length: Self.length)
    #expect(asked.reduce(0) { $0 + $1.count } < 60_000_000)
  }
}
