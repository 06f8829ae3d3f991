// SPDX-License-Identifier: Apache-2.0

import Haul
import HaulDisk
import HaulOrigin
import HaulPlatform
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

private let MiB = 1 << 20

/// Disks that stand still, and pools that are small: nothing may wait for ever, and memory stays bounded.
@Suite(.timeLimit(.minutes(10))) struct StuckDiskTests {
  @Test("a pool of one mebibyte serves any number of connections", arguments: [1, 16, 64, 256])
  func smallPool(connections: Int) async throws {
    let length = 70 * MiB + 1
    let bench = try Bench(["/f": .reference(seed: 1, length: length)], bufferBytes: MiB)
    let result = try await bench.fetch { $0.connections = .fixed(connections) }
    bench.expectFile(length: length)
    #expect(try result.sha256 == sha256(length: length))
  }

  @Test("several downloads share a pool of one mebibyte")
  func sharedSmallPool() async throws {
    let length = 20 * MiB
    let bench = try Bench(["/f": .reference(seed: 1, length: length)], bufferBytes: MiB)
    let downloads = (0..<4).map { index in bench.start(to: "f\(index)") { $0.connections = .fixed(32) } }
    for (index, download) in downloads.enumerated() {
      _ = try await download.result()
      bench.expectFile("f\(index)", length: length)
    }
  }

  @Test("while the disk stands still memory is bounded, and then it goes on", arguments: [1, 16, 64])
  func standsStill(connections: Int) async throws {
    let length = 128 * MiB
    let disk = FaultyDisk()
    disk.change { $0.holdsWritesTo = ".haul-part" }
    let bench = try Bench(["/f": .reference(seed: 1, length: length)], disk: disk, bufferBytes: 4 * MiB)
    let download = bench.start { $0.connections = .fixed(connections) }
    disk.waitUntil { $0.heldWrites > 0 }
    // Held up: what a pool and the sockets' buffers hold has been sent, and no more comes.
    var last = (bytes: -1, since: monotonicSeconds())
    while monotonicSeconds() - last.since < 0.7 {
      let ticks = download.progress
      let sent = bench.origin.journal().bodyBytesSent()
      if sent != last.bytes { last = (sent, monotonicSeconds()) }
      // The engine publishes ten times a second; there is nothing else to wait for.
      _ = bench.origin.waitUntil(timeout: .milliseconds(50)) { _ in download.progress != ticks }
    }
    // Half of the pool, and what libcurl takes from each socket once more by its own timers.
    #expect(download.progress.received <= 2 * MiB + connections * 512 * 1024 + 2 * MiB)
    #expect(last.bytes < length)
    #expect(disk.seen.heldWrites == 1)
    disk.change { $0.holdsWritesTo = nil }
    let result = try await download.result()
    bench.expectFile(length: length)
    #expect(try result.sha256 == sha256(length: length))
    #expect(download.progress.diskWait > 0)
  }

  @Test("an interruption does not wait for a disk that stands still")
  func cancelled() async throws {
    let length = 64 * MiB
    let disk = FaultyDisk()
    var resource = OriginResource.reference(seed: 1, length: length)
    // Otherwise the download may be over before the disk stands still.
    resource.gate = .init("rest", at: 2 * MiB)
    let bench = try Bench(["/f": resource], disk: disk)
    let download = bench.start {
      $0.connections = .fixed(4)
      $0.stopPatience = 2
    }
    download.waitUntil { $0.written > 4 * MiB }
    disk.change { $0.holdsWritesTo = ".haul-part" }
    bench.origin.openGate("rest")
    disk.waitUntil { $0.heldWrites > 0 }
    let start = monotonicSeconds()
    download.cancel()
    download.waitUntil { $0.phase == .ended }
    // Two seconds by the design; the rest is for a busy machine.
    #expect(monotonicSeconds() - start < 10)
    let error = await download.failure()
    #expect(error?.code == .interrupted)
    #expect(error?.kept?.path == bench.folder.path(of: "f.haul-part"))
    #expect(error?.kept?.written ?? 0 > 4 * MiB)
    disk.change { $0.holdsWritesTo = nil }
  }

  @Test("an interruption before the file is open does not wait either")
  func cancelledWhileWaiting() async throws {
    let disk = FaultyDisk()
    disk.change { $0.holdsWritesTo = ".haul-part" }
    let bench = try Bench(["/f": .reference(seed: 1, length: 100)], disk: disk)
    let download = bench.start { $0.stopPatience = 0.1 }
    disk.waitUntil { $0.heldWrites > 0 }
    download.cancel()
    #expect(await download.failure()?.code == .interrupted)
    disk.change { $0.holdsWritesTo = nil }
  }

  @Test(
    "a disk that stands still holds up its own downloads alone",
    .enabled(if: hasSecondDisk, "/dev/shm is needed as a second filesystem"))
  func otherDisk() async throws {
    let length = 48 * MiB
    let disk = FaultyDisk()
    disk.change { $0.holdsWritesTo = "stuck" }
    let bench = try Bench(["/f": .reference(seed: 1, length: length)], disk: disk, bufferBytes: 8 * MiB)
    let stuck = bench.start(to: "stuck") { $0.connections = .fixed(16) }
    disk.waitUntil { $0.heldWrites > 0 }
    stuck.waitUntil { $0.received >= 4 * MiB - 512 * 1024 }

    let path = "/dev/shm/haul-test.\(getpid()).\(UInt64.random(in: 0...UInt64.max))"
    defer { unlink(path) }
    var request = bench.request()
    request.output = .file(path)
    _ = try await bench.downloader.start(request).result()
    #expect(firstDifference(path, from: ReferenceContent(seed: 1, length: length)) == nil)
    #expect(stuck.outcome == nil)
    disk.change { $0.holdsWritesTo = nil }
    _ = try await stuck.result()
    bench.expectFile("stuck", length: length)
  }
}

private let hasSecondDisk: Bool = {
  var (shared, temporary) = (stat(), stat())
  let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
  guard stat("/dev/shm", &shared) == 0, stat(folder, &temporary) == 0 else { return false }
  return shared.st_dev != temporary.st_dev && access("/dev/shm", W_OK) == 0
}()
