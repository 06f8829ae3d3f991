// SPDX-License-Identifier: Apache-2.0

import Haul
import HaulDisk
import HaulOrigin
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

private let MiB = 1 << 20

/// Disks that get full while a download runs, and one that waits for room.
@Suite(.timeLimit(.minutes(10))) struct FullDiskTests {
  private let length = 32 * MiB + 17

  /// Starts a download whose writes from `offset` on find no room, and waits until it says so.
  private func starved(
    _ bench: Bench, _ disk: FaultyDisk, from offset: Int, code: Int32 = ENOSPC, connections: Int = 3
  ) -> Download {
    disk.change { $0.writeError = (from: offset, code: code) }
    let download = bench.start {
      $0.connections = .fixed(connections)
      $0.onFullDisk = .waits
    }
    download.waitUntil { $0.trouble?.contains("f.haul-part") == true || $0.phase == .ended }
    return download
  }

  @Test(
    "a download that waits for room goes on when there is some, and no byte is fetched twice",
    arguments: [(ENOSPC, 11, 3), (EDQUOT, 11, 3), (ENOSPC, 0, 3), (ENOSPC, 11, 1), (ENOSPC, 32, 3)])
  func waits(code: Int32, mebibytes: Int, connections: Int) async throws {
    let disk = FaultyDisk()
    let bench = try Bench(["/f": .reference(seed: 1, length: length)], disk: disk)
    let download = starved(bench, disk, from: mebibytes * MiB, code: code, connections: connections)
    let before = disk.seen.writes
    // It keeps trying, and what it tries is one write at a time.
    disk.waitUntil { $0.writes >= before + 2 }
    #expect(download.outcome == nil)
    disk.change { $0.writeError = nil }
    let result = try await download.result()
    bench.expectFile(length: length)
    #expect(try result.sha256 == sha256(length: length))
    #expect(result.receivedBytes == length)
    let notices = download.takeNotices()
    #expect(
      notices.contains {
        if case .waitingForRoom(let why) = $0 { why.contains("f.haul-part") } else { false }
      })
    #expect(notices.last == .foundRoom)
  }

  @Test("an answer without ranges or length is not broken off by a full disk")
  func stream() async throws {
    var resource = OriginResource.reference(seed: 1, length: length)
    (resource.supportsRanges, resource.framing) = (false, .chunked)
    let disk = FaultyDisk()
    let bench = try Bench(["/f": resource], disk: disk)
    let download = starved(bench, disk, from: 11 * MiB)
    disk.change { $0.writeError = nil }
    _ = try await download.result()
    bench.expectFile(length: length)
    #expect(bench.origin.journal().requests.count == 1)
  }

  @Test("what came before the disk was full is kept by an interruption, and gone on from")
  func interrupted() async throws {
    let disk = FaultyDisk()
    let bench = try Bench(["/f": .reference(seed: 1, length: length)], disk: disk)
    let download = starved(bench, disk, from: 11 * MiB)
    download.cancel()
    let error = await download.failure()
    let kept = try #require(error?.kept)
    #expect(error?.code == .interrupted)
    #expect(kept.written > 0 && kept.written <= 11 * MiB && kept.durable == kept.written && kept.canResume)
    disk.change { $0.writeError = nil }
    #expect(try await bench.fetch().resumedBytes == kept.written)
    bench.expectFile(length: length)
  }

  @Test("a file that is longer than the filesystem allows is not waited for")
  func tooLong() async throws {
    let disk = FaultyDisk()
    let bench = try Bench(["/f": .reference(seed: 1, length: length)], disk: disk)
    let error = await starved(bench, disk, from: 11 * MiB, code: EFBIG).failure()
    #expect(error?.code == .disk)
  }

  @Test("a disk that has no room for the manifest is waited for, too")
  func manifest() async throws {
    var resource = OriginResource.reference(seed: 1, length: length)
    resource.gate = .init("hold", at: 2 * MiB)
    let disk = FaultyDisk()
    disk.change { $0.createError = ENOSPC }
    let bench = try Bench(["/f": resource], disk: disk)
    let download = bench.start { $0.onFullDisk = .waits }
    download.waitUntil { $0.trouble?.contains("f.haul") == true || $0.phase == .ended }
    #expect(bench.names == ["f.haul-part"])
    disk.change { $0.createError = nil }
    download.waitUntil { $0.durable >= 2 * MiB || $0.phase == .ended }
    bench.origin.openGate("hold")
    _ = try await download.result()
    bench.expectFile(length: length)
  }
}
