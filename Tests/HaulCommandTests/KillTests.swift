// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// kill -9 at random moments, again and again, with the bytes served counted by the origin.
@Suite(.timeLimit(.minutes(10)))
struct KillTests {
  private static let mebibyte = 1 << 20
  private static let connections = 4
  private static let killsPerSeed = 5

  /// Slow enough that only little is in sockets, fast enough that a chunk takes a quarter of a second.
  private var configuration: OriginConfiguration {
    var configuration = OriginConfiguration()
    configuration.bytesPerSecondPerConnection = 4 << 20
    configuration.sendBuffer = 64 << 10
    return configuration
  }

  @Test(
    "after kill -9 at most one unfinished chunk a connection is fetched again",
    arguments: [1, 2, 3, 4] as [UInt64])
  func killed(seed: UInt64) throws {
    var dice = SeededGenerator(seed: seed)
    let content = ReferenceContent(seed: seed, length: 72 << 20)
    let arena = try Arena(
      ["/f": .reference(seed: seed, length: content.length)], configuration: configuration)
    let manifest = arena.folder.path(of: "f.haul")
    for _ in 0..<Self.killsPerSeed {
      let before = arena.origin.journal()
      let process = try arena.start("/f", "-c", "\(Self.connections)")
      // From its first second on a run has a manifest, and from then on every finished chunk counts.
      #expect(arena.origin.waitUntil(timeout: .seconds(60)) { _ in Files.exists(manifest) })
      let noted = arena.origin.journal().bodyBytesSent()
      #expect(noted >= before.bodyBytesSent())
      let more = Int.random(in: Self.mebibyte...6 * Self.mebibyte, using: &dice)
      #expect(arena.origin.waitUntil(timeout: .seconds(60)) { $0.bodyBytesSent() >= noted + more })
      process.signal(SIGKILL)
      #expect(process.wait().end == .signal(SIGKILL), "it ended before it was killed")
      #expect(arena.origin.waitUntilIdle())
      #expect(arena.names == ["f.haul", "f.haul-part"])
    }
    let last = try arena.run("/f", "-c", "\(Self.connections)")
    #expect(last.end == .exit(0), "\(last.errors)")
    #expect(try arena.holds("f", content))
    #expect(arena.names == ["f"])

    // What is lost at a kill, for each connection: the chunk that it was in, and what the origin had handed to
    // the kernel but nobody had read or written yet. The latter has no bound that could be promised; at this
    // rate it is a few slices of 10 ms, and here it gets as much room as the send buffer has, and as much again.
    // The sum over all kills is compared, so that a single stall of the machine does not decide.
    let inFlight = 2 * (64 << 10)
    let excess = arena.origin.journal().bodyBytesSent() - content.length
    #expect(excess <= Self.killsPerSeed * Self.connections * (Self.mebibyte + inFlight))
    print(
      "seed \(seed): \(Self.killsPerSeed) kills, \(excess / Self.killsPerSeed / Self.connections) bytes a connection and kill fetched again"
    )
  }

  @Test(
    "a kill in the first second loses at most all of it, and never a right byte",
    arguments: [5, 6, 7] as [UInt64])
  func killedEarly(seed: UInt64) throws {
    var dice = SeededGenerator(seed: seed)
    let content = ReferenceContent(seed: seed, length: 20 << 20)
    let arena = try Arena(
      ["/f": .reference(seed: seed, length: content.length)], configuration: configuration)
    for _ in 0..<3 {
      let before = arena.origin.journal().bodyBytesSent()
      let process = try arena.start("/f", "-c", "\(Self.connections)")
      let more = Int.random(in: 0...3 * Self.mebibyte, using: &dice)
      #expect(arena.origin.waitUntil(timeout: .seconds(60)) { $0.bodyBytesSent() > before + more })
      process.signal(SIGKILL)
      process.wait()
    }
    #expect(try arena.run("/f", "-c", "\(Self.connections)").end == .exit(0))
    #expect(try arena.holds("f", content))
    #expect(arena.names == ["f"])
  }
}
