// SPDX-License-Identifier: Apache-2.0

import Haul
import HaulOrigin
import TestSupport
import Testing

private let MiB = 1 << 20

/// Several downloads in one downloader, and its end.
@Suite(.timeLimit(.minutes(10))) struct SharingTests {
  @Test("many downloads at once are all right")
  func many() async throws {
    let bench = try Bench()
    let lengths = (0..<24).map { ($0 % 6) * 3 * MiB + $0 * 1001 }
    for (index, length) in lengths.enumerated() {
      bench.origin.put(.reference(seed: UInt64(index), length: length), at: "/\(index)")
    }
    let downloads = lengths.indices.map { bench.start("/\($0)", to: nil) }
    for (index, download) in downloads.enumerated() {
      let result = try await download.result()
      #expect(try result.sha256 == sha256(seed: UInt64(index), length: lengths[index]))
      bench.expectFile("\(index)", seed: UInt64(index), length: lengths[index])
    }
    #expect(bench.names.count == lengths.count)
  }

  @Test("one that fails or is called off does not touch the others")
  func mixed() async throws {
    var held = OriginResource.reference(seed: 2, length: 20 * MiB)
    held.gate = .init("never", at: 1000)
    let bench = try Bench(["/good": .reference(seed: 1, length: 20 * MiB), "/held": held])
    let (good, missing, off) = (
      bench.start("/good", to: nil), bench.start("/missing", to: nil), bench.start("/held", to: nil)
    )
    #expect(await missing.failure()?.code == .refused)
    bench.wait { $0.requests.contains { $0.heldAt == "never" } }
    off.cancel()
    off.cancel()
    #expect(await off.failure()?.code == .interrupted)
    _ = try await good.result()
    bench.expectFile("good", length: 20 * MiB)
  }

  @Test("of two downloads of one downloader onto one name the second is refused, and the first is whole")
  func oneName() async throws {
    var held = OriginResource.reference(seed: 1, length: 9 * MiB)
    held.gate = .init("hold", at: 1000)
    let bench = try Bench(["/f": held, "/g": .reference(seed: 2, length: 9 * MiB)])
    let first = bench.start("/f", to: "f")
    bench.wait { $0.requests.contains { $0.heldAt == "hold" } }
    for overwrites in [false, true] {
      let error = await bench.failure("/g", to: "f") { $0.overwrites = overwrites }
      #expect(error?.code == .busy, "\(String(describing: error))")
      #if os(Linux)
      #expect(error?.message.contains("another download of this process") == true)
      #endif
    }
    #expect(!bench.origin.requests().contains { $0.target == "/g" })
    bench.origin.openGate("hold")
    _ = try await first.result()
    bench.expectFile(length: 9 * MiB)
  }

  @Test("dropping the downloader interrupts and keeps what is under way")
  func dropped() async throws {
    var resource = OriginResource.reference(seed: 1, length: 20 * MiB)
    resource.gate = .init("hold", at: 2 * MiB)
    let bench = try Bench(["/f": resource])
    var downloader: Downloader? = try Downloader()
    let download = try #require(downloader).start(bench.request())
    bench.wait { $0.requests.contains { $0.heldAt == "hold" } }
    download.waitUntil { $0.received >= 2 * MiB && $0.phase == .fetching }
    downloader = nil
    let error = await download.failure()
    #expect(error?.code == .interrupted && error?.kept?.written ?? 0 >= 2 * MiB)
    bench.wait { $0.activeRequests == 0 }
    bench.origin.openGate("hold")
    let result = try await bench.fetch()
    #expect(result.resumedBytes == error?.kept?.written)
    bench.expectFile(length: 20 * MiB)
  }

  @Test("a cancelled task cancels the download and still waits for its end")
  func taskCancelled() async throws {
    var resource = OriginResource.reference(seed: 1, length: 20 * MiB)
    resource.gate = .init("hold", at: 2 * MiB)
    let bench = try Bench(["/f": resource])
    let download = bench.start { $0.connections = .fixed(1) }
    let task = Task { await download.failure() }
    bench.wait { $0.requests.contains { $0.heldAt == "hold" } }
    download.waitUntil { $0.received >= 2 * MiB && $0.phase == .fetching }
    task.cancel()
    let error = await task.value
    #expect(error?.code == .interrupted && error?.kept?.durable ?? 0 >= 2 * MiB)
    #expect(download.progress.phase == .ended && download.outcome != nil)
    #expect(await download.failure() == error, "the outcome stays")
  }

  @Test("cancelling after the end changes nothing")
  func cancelledLate() async throws {
    let bench = try Bench(["/f": .reference(seed: 1, length: 1000)])
    let download = bench.start()
    let result = try await download.result()
    download.cancel()
    #expect(try await download.result() == result)
  }

  @Test("whenever it is cancelled, the next run makes the file", arguments: 0..<12)
  func cancelledAnywhere(seed: UInt64) async throws {
    let length = 16 * MiB + 5
    var dice = SeededGenerator(seed: seed)
    let bench = try Bench(["/f": .reference(seed: 1, length: length)])
    for _ in 0..<6 {
      let mark = Int.random(in: 0...length, using: &dice)
      let download = bench.start { $0.connections = .fixed(3) }
      download.waitUntil { $0.received >= mark }
      download.cancel()
      do throws(DownloadError) {
        _ = try await download.result()
        break
      } catch {
        try #require(error.code == .interrupted, "\(error)")
      }
    }
    if bench.names != ["f"] { try await bench.fetch() }
    bench.expectFile(length: length)
    #expect(bench.names == ["f"])
  }
}
