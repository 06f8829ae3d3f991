// SPDX-License-Identifier: Apache-2.0

import Haul
import HaulOrigin
import TestSupport
import Testing

private let MiB = 1 << 20

/// Servers that do everything right.
@Suite(.timeLimit(.minutes(10))) struct FetchTests {
  @Test(
    "every size arrives byte by byte, and a small one costs one request",
    arguments: [0, 1, 100, MiB - 1, MiB, MiB + 1, 4 * MiB - 1, 4 * MiB])
  func small(length: Int) async throws {
    let bench = try Bench(["/f": .reference(seed: 1, length: length)])
    let result = try await bench.fetch()
    bench.expectFile(length: length)
    #expect(result.length == length && result.path == bench.folder.path(of: "f"))
    #expect(try result.sha256 == sha256(length: length) && result.digestStatus == .computed)
    #expect(result.receivedBytes == length && result.resumedBytes == 0 && result.retries == 0)
    #expect(!result.wasComplete)
    #expect(bench.names == ["f"])
    #expect(bench.origin.requests().count == 1)
  }

  @Test("one byte more than the first request brings costs a second one")
  func oneByteMore() async throws {
    let length = 4 * MiB + 1
    let bench = try Bench(["/f": .reference(seed: 1, length: length)])
    // Another connection might take a share where the first one is slow.
    try await bench.fetch { $0.connections = .fixed(1) }
    bench.expectFile(length: length)
    #expect(bench.origin.requests().count == 2)
    #expect(asked(bench.origin.requests(), length: length) == [0..<length - 1, length - 1..<length])
  }

  @Test("many connections bring every byte once, without a HEAD", arguments: [1, 2, 3, 7, 16, 64])
  func many(connections: Int) async throws {
    let length = 48 * MiB + 4711
    let bench = try Bench(["/f": .reference(seed: 1, length: length)])
    let wanted = try sha256(length: length)
    let result = try await bench.fetch(sha256: wanted) { $0.connections = .fixed(connections) }
    bench.expectFile(length: length)
    #expect(result.digestStatus == .verified && result.sha256 == wanted && result.receivedBytes == length)
    #expect(bench.names == ["f"])
    let journal = bench.origin.journal()
    #expect(journal.count(method: "GET") == journal.requests.count)
    #expect(journal.requests.allSatisfy { $0.range != nil })
    #expect(journal.peakConnections <= connections)
  }

  @Test("three hundred mebibytes")
  func large() async throws {
    let length = 300 * MiB
    let bench = try Bench(["/f": .reference(seed: 2, length: length)])
    let result = try await bench.fetch { $0.isDurable = false }
    bench.expectFile(seed: 2, length: length)
    #expect(result.receivedBytes == length)
    #expect(bench.names == ["f"])
  }

  @Test("-c N keeps N connections busy", arguments: [1, 5, 32])
  func busy(connections: Int) async throws {
    let length = 128 * MiB
    var resource = OriginResource.reference(seed: 1, length: length)
    resource.gate = .init("hold", at: 1000)
    let bench = try Bench(["/f": resource])
    let download = bench.start { $0.connections = .fixed(connections) }
    bench.wait { $0.requests.count { $0.heldAt == "hold" } == connections }
    download.waitUntil { $0.connections == connections }
    #expect(bench.origin.journal().peakConnections == connections)
    download.cancel()
    #expect(await download.failure()?.code == .interrupted)
  }

  @Test("automatic starts with eight connections")
  func automatic() async throws {
    var resource = OriginResource.reference(seed: 1, length: 64 * MiB)
    resource.gate = .init("hold", at: 1000)
    let bench = try Bench(["/f": resource])
    let download = bench.start()
    bench.wait { $0.requests.count { $0.heldAt == "hold" } == 8 }
    download.waitUntil { $0.connections == 8 }
    #expect(bench.origin.journal().peakConnections == 8)
    bench.origin.openGate("hold")
    _ = try await download.result()
    bench.expectFile(length: 64 * MiB)
  }

  @Test("without a digest none is computed")
  func noDigest() async throws {
    let bench = try Bench(["/f": .reference(seed: 1, length: 9 * MiB)])
    let result = try await bench.fetch { $0.computesDigest = false }
    bench.expectFile(length: 9 * MiB)
    #expect(result.sha256 == nil && result.digestStatus == .none)
  }

  @Test("a digest that was given is compared though none was to be computed, in either case of letters")
  func givenDigest() async throws {
    let bench = try Bench(["/f": .reference(seed: 1, length: 100)])
    let wanted = try sha256(length: 100)
    let result = try await bench.fetch(sha256: wanted.uppercased()) { $0.computesDigest = false }
    #expect(result.digestStatus == .verified && result.sha256 == wanted)
  }

  @Test("progress only grows, and its phases come in order")
  func progress() async throws {
    let length = 40 * MiB
    let bench = try Bench(["/f": .reference(seed: 1, length: length)])
    let download = bench.start { $0.connections = .fixed(4) }
    var last = download.progress
    let order: [DownloadProgress.Phase] = [.starting, .fetching, .finishing, .ended]
    while last.phase != .ended {
      let before = last
      download.waitUntil { $0 != before }
      last = download.progress
      #expect(order.firstIndex(of: last.phase)! >= order.firstIndex(of: before.phase)!)
      #expect(last.received >= before.received && last.written >= before.written)
      #expect(last.hashed >= before.hashed && last.durable >= before.durable)
      #expect(last.written <= last.received && last.durable <= last.written && last.hashed <= last.written)
      #expect(last.total == nil || last.total == length)
    }
    #expect(last.received == length && last.written == length && last.hashed == length)
    #expect(last.name == "f" && last.resumed == 0)
    _ = try await download.result()
  }

  @Test("what makes no sense is refused before a file or a socket is touched")
  func nonsense() async throws {
    let bench = try Bench()
    for url in ["", "ftp://127.0.0.1/f", "file:///etc/passwd", "no url", "http://"] {
      let download = bench.downloader.start(DownloadRequest(url: url, output: .directory(bench.folder.path)))
      #expect(await download.failure()?.code == .invalidRequest, "\(url)")
    }
    #expect(await bench.failure(sha256: "abc")?.code == .invalidRequest)
    #expect(await bench.failure(headers: ["Range: bytes=0-1"])?.code == .invalidRequest)
    #expect(await bench.failure(headers: ["X: a\r\nY: b"])?.code == .invalidRequest)
    #expect(await bench.failure { $0.connections = .fixed(0) }?.code == .invalidRequest)
    #expect(await bench.failure { $0.retries = -1 }?.code == .invalidRequest)
    #expect(await bench.failure { $0.silenceTimeout = 0 }?.code == .invalidRequest)
    #expect(bench.names.isEmpty && bench.origin.requests().isEmpty)
  }
}
