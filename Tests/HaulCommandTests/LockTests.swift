// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite(.timeLimit(.minutes(10)))
struct LockTests {
  private static let length = 9_000_000
  private let content = ReferenceContent(seed: 3, length: length)
  private let resource = OriginResource.reference(seed: 3, length: length).gated(at: 500_000)

  @Test("15: a second process on one target is told who has it, and touches nothing")
  func busy() throws {
    let arena = try Arena(["/f": resource])
    let first = try arena.start("/f", "-c", "2")
    #expect(arena.waitUntilHeld(2))
    let requests = arena.origin.requests().count
    let second = try arena.run("/f", "--overwrite")
    #expect(second.end == .exit(15) && second.stdout.isEmpty)
    #expect(second.errors.contains("f.haul-part"))
    #if os(Linux)
    #expect(second.errors.contains("(\(first.pid))"), "\(second.errors)")
    #endif
    #expect(arena.origin.requests().count == requests)
    arena.origin.openGate("gate")
    #expect(first.wait().end == .exit(0))
    #expect(try arena.holds("f", content))
  }

  @Test("the lock of a killed process does not block the next one")
  func stale() throws {
    let arena = try Arena(["/f": resource])
    let first = try arena.start("/f", "-c", "2")
    #expect(arena.waitUntilHeld(2))
    first.signal(SIGKILL)
    first.wait()
    #expect(arena.names.contains("f.haul-part"))
    arena.origin.openGate("gate")
    #expect(try arena.run("/f").end == .exit(0))
    #expect(try arena.holds("f", content))
    #expect(arena.names == ["f"])
  }
}
