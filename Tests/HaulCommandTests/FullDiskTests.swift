// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A real filesystem that gets full while the real command writes to it. (Cases 61 and 62 of the catalogue.)
@Suite(
  .timeLimit(.minutes(10)), .enabled(if: LoopFilesystem.isPossible, "root and loop devices are needed"))
struct FullDiskTests {
  private let content = ReferenceContent(seed: 62, length: 24 << 20)

  /// An origin that holds every body at 2 MiB, and a disk of which the file takes two thirds.
  private func arena() throws -> (Arena, LoopFilesystem) {
    let arena = try Arena(["/f": .reference(seed: 62, length: content.length).gated(at: 2 << 20)])
    return (arena, try LoopFilesystem(kind: "ext2", mebibytes: 40))
  }

  private func start(_ arena: Arena, _ disk: LoopFilesystem, _ more: String...) throws -> ChildProcess {
    try HaulProcess.start([arena.origin.url("/f"), "-d", disk.path] + more)
  }

  @Test("62: --on-full wait keeps everything, says so, and goes on when there is room")
  func waits() throws {
    let (arena, disk) = try arena()
    let process = try start(arena, disk, "--on-full", "wait", "-c", "2")
    #expect(arena.waitUntilHeld(2))
    disk.fill("ballast")
    arena.origin.openGate("gate")
    #expect(process.waitForOutput { _, errors in errors.contains("waiting for room") })
    unlink(disk.path(of: "ballast"))
    let ended = process.wait()
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(ended.errors.contains("No space left on device"))
    #expect(ended.errors.contains("there is room again"))
    #expect(try arena.holds(disk.path(of: "f"), content))
    #expect(arena.origin.journal().bodyBytesSent() == content.length, "nothing was fetched twice")
  }

  @Test(
    "62: without a terminal a full disk is an error that keeps what came, and the next run needs only the rest"
  )
  func fails() throws {
    let (arena, disk) = try arena()
    let process = try start(arena, disk, "-c", "2")
    #expect(arena.waitUntilHeld(2))
    // The manifest has its place from the first commit on.
    #expect(arena.origin.waitUntil(timeout: .seconds(60)) { _ in Files.exists(disk.path(of: "f.haul")) })
    disk.fill("ballast")
    arena.origin.openGate("gate")
    let ended = process.wait()
    #expect(ended.end == .exit(14), "\(ended.errors)")
    #expect(ended.errors.contains("No space left on device") && ended.errors.contains("make room"))
    #expect(ended.errors.contains("kept") && ended.errors.contains("all of it safe on the disk"))
    #expect(Files.names(in: disk.path) == ["ballast", "f.haul", "f.haul-part", "lost+found"])
    unlink(disk.path(of: "ballast"))
    let again = try start(arena, disk).wait()
    #expect(again.end == .exit(0) && again.errors.contains("going on"), "\(again.errors)")
    #expect(try arena.holds(disk.path(of: "f"), content))
  }

  @Test("61: a disk that is too small is told before the second request, and nothing is left on it")
  func tooSmall() throws {
    let (arena, disk) = try arena()
    disk.fill("ballast")
    let ended = try start(arena, disk, "--on-full", "wait").wait()
    #expect(ended.end == .exit(14), "\(ended.errors)")
    #expect(ended.errors.contains("are needed") && ended.errors.contains("are free"))
    #expect(arena.origin.journal().requests.count == 1)
    #expect(Files.names(in: disk.path) == ["ballast", "lost+found"])
  }

  @Test("--on-full takes two words only")
  func words() throws {
    let ended = try HaulProcess.run(["http://127.0.0.1:1/f", "--on-full", "panic"])
    #expect(ended.end == .exit(64) && ended.errors.contains("--on-full"), "\(ended.errors)")
  }
}
