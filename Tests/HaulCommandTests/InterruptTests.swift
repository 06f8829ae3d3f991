// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

@testable import HaulCommand

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Ctrl-C and SIGTERM in the middle of a download of the real binary, and what the next run makes of it.
@Suite(.timeLimit(.minutes(10)))
struct InterruptTests {
  private static let length = 40_000_000
  private let content = ReferenceContent(seed: 7, length: length)
  private let resource = OriginResource.reference(seed: 7, length: length)

  @Test(
    "an interruption keeps what has come, and the same command asks for nothing of it",
    arguments: [SIGINT, SIGTERM, SIGHUP])
  func resume(signal: Int32) throws {
    let arena = try Arena(["/f": resource.gated(at: 700_000)])
    let first = try arena.start("/f", "-c", "4")
    #expect(arena.waitUntilHeld(4))
    first.signal(signal)
    let ended = first.wait()
    #expect(ended.end == .exit(128 + signal), "\(ended.errors)")
    #expect(ended.stdout.isEmpty)
    #expect(ended.errors.contains("interrupted: \(arena.origin.url("/f"))"))
    #expect(ended.errors.contains("run the same command again"))
    #expect(arena.names == ["f.haul", "f.haul-part"])

    arena.origin.openGate("gate")
    let before = arena.origin.requests().count
    let second = try arena.run("/f", "-c", "4")
    #expect(second.end == .exit(0), "\(second.errors)")
    #expect(second.errors.contains("going on: "))
    #expect(second.output.contains("of it from before"))
    #expect(arena.names == ["f"])
    #expect(try arena.holds("f", content))

    // What the first run says that it kept is exactly what the second one does not ask for. As the bytes are
    // right in the end, the two cannot meet, and nothing lies between them.
    let asked = arena.origin.journal().requested(from: before, length: Self.length)
    let kept = Self.length - asked.reduce(0) { $0 + $1.count }
    #expect(kept > 0 && kept <= 4 * 700_000)
    #expect(ended.errors.contains("kept \(Quantities.bytes(kept)) of 40.0 MB"), "\(kept): \(ended.errors)")
    #expect(ended.errors.contains("all of it safe on the disk"))
  }

  @Test("an interruption before the first byte leaves nothing behind")
  func beforeFirstByte() throws {
    let arena = try Arena(["/f": resource.gated(at: 0)])
    let process = try arena.start("/f")
    #expect(arena.waitUntilHeld(1))
    process.signal(SIGINT)
    let ended = process.wait()
    #expect(ended.end == .exit(130))
    #expect(ended.errors.contains("starts over"))
    #expect(arena.names.isEmpty)
  }

  @Test("an interruption stops a list of files")
  func list() throws {
    let arena = try Arena(["/a": resource.gated(at: 1000), "/b": resource])
    let process = try HaulProcess.start([
      arena.origin.url("/a"), arena.origin.url("/b"), "-d", arena.folder.path,
    ])
    #expect(arena.waitUntilHeld(1))
    process.signal(SIGINT)
    #expect(process.wait().end == .exit(130))
    #expect(arena.origin.requests().allSatisfy { $0.target == "/a" })
  }

  @Test("a file that cannot be resumed says so at its start")
  func announced() throws {
    var bare = resource.gated(at: 100_000)
    bare.etag = nil
    bare.lastModified = nil
    let arena = try Arena(["/f": bare])
    let process = try arena.start("/f")
    #expect(process.waitForOutput { $1.contains("an interruption will start over: ") })
    process.signal(SIGINT)
    let ended = process.wait()
    #expect(ended.end == .exit(130))
    #expect(ended.errors.contains("the same command starts over"))
    arena.origin.openGate("gate")
    #expect(try arena.run("/f").end == .exit(0))
    #expect(try arena.holds("f", content))
  }

  @Test("an interruption of a run that goes on from another one keeps both")
  func twice() throws {
    let arena = try Arena(["/f": resource.gated(at: 1_500_000)])
    for round in 1...3 {
      let before = arena.origin.requests().count
      let process = try arena.start("/f", "-c", "2")
      #expect(arena.origin.waitUntil { $0.requests[before...].count { $0.heldAt != nil } == 2 })
      process.signal(SIGINT)
      #expect(process.wait().end == .exit(130))
      #expect(arena.origin.journal().distinctBytesSent() > round * 2_000_000)
    }
    arena.origin.openGate("gate")
    #expect(try arena.run("/f", "-c", "2").end == .exit(0))
    #expect(try arena.holds("f", content))
    #expect(arena.names == ["f"])
    // Each byte that had reached the process was kept; what was still in sockets comes once more.
    let sent = arena.origin.journal().bodyBytesSent()
    #expect(sent <= Self.length + 3 * 2 * 1_500_000)
  }
}
