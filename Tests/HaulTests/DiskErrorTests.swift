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

/// Disks that fail.
@Suite(.timeLimit(.minutes(10))) struct DiskErrorTests {
  private let length = 32 * MiB + 17

  @Test(
    "a failed write ends the download, keeps what is written, and can be gone on from",
    arguments: [ENOSPC, EIO])
  func writeFails(code: Int32) async throws {
    let disk = FaultyDisk()
    disk.change { $0.writeError = (from: 11 * MiB, code: code) }
    let bench = try Bench(["/f": .reference(seed: 1, length: length)], disk: disk)
    let error = await bench.failure { $0.connections = .fixed(3) }
    #expect(error?.code == .disk && error?.message.contains("f.haul-part") == true)
    let kept = try #require(error?.kept)
    #expect(kept.written > 0 && kept.durable == kept.written && kept.canResume)
    #expect(bench.names == ["f.haul", "f.haul-part"])
    disk.change { $0.writeError = nil }
    let result = try await bench.fetch()
    #expect(result.resumedBytes == kept.written)
    bench.expectFile(length: length)
  }

  @Test("a disk without room is told before the download runs, and nothing is left")
  func full() async throws {
    let disk = FaultyDisk()
    disk.change { $0.freeSpace = MiB }
    let bench = try Bench(["/f": .reference(seed: 1, length: length)], disk: disk)
    let error = await bench.failure()
    #expect(error?.code == .disk && error?.kept == nil)
    #expect(bench.names.isEmpty)
  }

  @Test("a disk that becomes full between two runs keeps what was there")
  func fullOnResume() async throws {
    var resource = OriginResource.reference(seed: 1, length: length)
    // Not at the end of what the second run asks for: its connection would be done, and stay open.
    resource.gate = .init("hold", at: 2 * MiB - 1000)
    let disk = FaultyDisk()
    // Without room set aside the second run needs some.
    disk.change { $0.mayPreallocate = false }
    let bench = try Bench(["/f": resource], disk: disk)
    let kept = await bench.interrupted(held: 2) { $0.connections = .fixed(2) }?.kept
    disk.change { $0.freeSpace = 0 }
    let error = await bench.failure()
    #expect(error?.code == .disk)
    #expect(error?.kept?.written == kept?.written)
    #expect(bench.names == ["f.haul", "f.haul-part"])
    disk.change { $0.freeSpace = nil }
    bench.wait { $0.activeRequests == 0 }
    bench.origin.openGate("hold")
    #expect(try await bench.fetch().resumedBytes == kept?.written)
    bench.expectFile(length: length)
  }

  @Test("a part that cannot be opened is left as it was, and the error says so")
  func cannotOpen() async throws {
    let disk = FaultyDisk()
    disk.change { $0.writeError = (from: 11 * MiB, code: EIO) }
    let bench = try Bench(["/f": .reference(seed: 1, length: length)], disk: disk)
    let kept = await bench.failure()?.kept
    disk.change {
      $0.writeError = nil
      $0.manifestError = EIO
    }
    let error = await bench.failure()
    #expect(error?.code == .disk)
    #expect(error?.advice?.contains("f.haul-part is left as it was; check the disk") == true)
    disk.change { $0.manifestError = nil }
    #expect(try await bench.fetch().resumedBytes == kept?.written)
    bench.expectFile(length: length)
  }

  @Test("a manifest that was left beside the finished file goes, also where the file is only compared")
  func leftManifest() async throws {
    var resource = OriginResource.reference(seed: 1, length: length)
    resource.gate = .init("hold", at: 2 * MiB - 1000)
    let disk = FaultyDisk()
    let bench = try Bench(["/f": resource], disk: disk)
    _ = await bench.interrupted(held: 2) { $0.connections = .fixed(2) }
    bench.wait { $0.activeRequests == 0 }
    bench.origin.openGate("hold")
    disk.change { $0.unlinkError = EIO }
    try await bench.fetch()
    #expect(bench.names == ["f", "f.haul"])
    disk.change { $0.unlinkError = nil }
    let result = try await bench.fetch(sha256: try sha256(length: length))
    #expect(result.wasComplete && bench.names == ["f"])
  }

  @Test("where there was no room for a manifest, nobody is told that another run goes on")
  func noManifest() async throws {
    var resource = OriginResource.reference(seed: 1, length: length)
    resource.gate = .init("hold", at: 2 * MiB)
    let disk = FaultyDisk()
    disk.change { $0.createError = ENOSPC }
    let bench = try Bench(["/f": resource], disk: disk)
    let error = await bench.interrupted(held: 2) { $0.connections = .fixed(2) }
    #expect(error?.code == .disk)
    #expect(error?.kept?.written ?? 0 > 0 && error?.kept?.canResume == false)
  }

  @Test("a failed sync is an error, and nothing gets the final name")
  func syncFails() async throws {
    let disk = FaultyDisk()
    disk.change { $0.syncError = EIO }
    let bench = try Bench(["/f": .reference(seed: 1, length: length)], disk: disk)
    let error = await bench.failure()
    #expect(error?.code == .disk)
    #expect(!bench.names.contains("f"))
    disk.change { $0.syncError = nil }
    try await bench.fetch()
    bench.expectFile(length: length)
    #expect(bench.names == ["f"])
  }

  @Test("a failed sync in an interruption is told")
  func syncFailsAtStop() async throws {
    var resource = OriginResource.reference(seed: 1, length: length)
    resource.gate = .init("hold", at: 2 * MiB)
    let disk = FaultyDisk()
    disk.change { $0.syncError = EIO }
    let bench = try Bench(["/f": resource], disk: disk)
    let error = await bench.interrupted(held: 2) { $0.connections = .fixed(2) }
    #expect(error?.code == .disk)
    #expect(error?.kept?.durable == 0)
  }

  @Test("without durability no sync is called, neither at the end nor at a stop")
  func noSync() async throws {
    var resource = OriginResource.reference(seed: 1, length: length)
    resource.gate = .init("hold", at: 2 * MiB)
    let disk = FaultyDisk()
    let bench = try Bench(["/f": resource], disk: disk)
    let error = await bench.interrupted(held: 2) {
      $0.connections = .fixed(2)
      $0.isDurable = false
    }
    #expect(error?.kept?.durable == 0 && error?.kept?.written ?? 0 >= 4 * MiB)
    bench.wait { $0.activeRequests == 0 }
    bench.origin.openGate("hold")
    let download = bench.start { $0.isDurable = false }
    let result = try await download.result()
    bench.expectFile(length: length)
    #expect(result.resumedBytes >= 2 * MiB, "sums prove what was never synced")
    #expect(disk.seen.syncs == 0)
    try await bench.fetch(to: "durable")
    #expect(disk.seen.syncs >= 2)
  }

  @Test("a process without descriptors is told so, and keeps what it has")
  func noDescriptors() async throws {
    let disk = FaultyDisk()
    disk.change { $0.writeError = (from: 5 * MiB, code: EMFILE) }
    let bench = try Bench(["/f": .reference(seed: 1, length: length)], disk: disk)
    let error = await bench.failure()
    #expect(error?.code == .other && error?.advice?.contains("ulimit") == true)
    #expect(error?.kept != nil)
  }

  @Test("writes that take one byte at a time make the same file")
  func shortWrites() async throws {
    let disk = FaultyDisk()
    disk.change { $0.largestWrite = 1 }
    let bench = try Bench(["/f": .reference(seed: 1, length: 20_000)], disk: disk)
    try await bench.fetch()
    bench.expectFile(length: 20_000)
    #expect(disk.seen.writes >= 20_000)
  }

  @Test("writes that fall short make the same file")
  func shorterWrites() async throws {
    let disk = FaultyDisk()
    disk.change { $0.largestWrite = 7001 }
    let bench = try Bench(["/f": .reference(seed: 1, length: length)], disk: disk)
    try await bench.fetch()
    bench.expectFile(length: length)
  }

  @Test("a filesystem that cannot set room aside is good enough")
  func sparse() async throws {
    let disk = FaultyDisk()
    disk.change { $0.mayPreallocate = false }
    let bench = try Bench(["/f": .reference(seed: 1, length: length)], disk: disk)
    try await bench.fetch()
    bench.expectFile(length: length)
  }

  @Test(
    "where a sync may keep nothing a durable download says so, once, and works", arguments: [true, false])
  func doubtfulDisk(isDurable: Bool) async throws {
    let disk = FaultyDisk()
    disk.change { $0.syncDoubt = .inMemory }
    let bench = try Bench(["/f": .reference(seed: 1, length: length)], disk: disk)
    let download = bench.start { $0.isDurable = isDurable }
    _ = try await download.result()
    bench.expectFile(length: length)
    let told = DownloadNotice.doubtfulDisk(why: "\(bench.folder.path) is in memory (tmpfs)")
    #expect(download.takeNotices() == (isDurable ? [told] : []))
  }

  @Test("a folder that is not there, or is a file, is an error")
  func noFolder() async throws {
    let bench = try Bench(["/f": .reference(seed: 1, length: 10)])
    #expect(await bench.failure(to: "missing/f")?.code == .disk)
    try bench.write([1], to: "file")
    let error = await bench.failure(to: "file/f")
    #expect(error?.code == .disk || error?.code == .occupied)
    #expect(await bench.failure(to: ".", { _ in })?.code == .invalidRequest)
    #expect(bench.names == ["file"] && bench.origin.requests().isEmpty)
  }
}
