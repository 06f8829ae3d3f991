// SPDX-License-Identifier: Apache-2.0

import Haul
import HaulOrigin
import TestSupport
import Testing

private let MiB = 1 << 20

/// Whatever a server does: the reference bytes, or an error that says so.
@Suite(.timeLimit(.minutes(10))) struct FaultyServerTests {
  private let length = 24 * MiB + 3

  private func bench(_ faults: FaultRule...) throws -> Bench {
    try Bench(["/f": .reference(seed: 1, length: length, faults: faults)])
  }

  @Test(
    "what a cut connection brought is not asked for again", arguments: [0, 1, 100_000, 3 * MiB],
    [true, false])
  func cuts(after count: Int, resets: Bool) async throws {
    let fault = resets ? Fault.resetAfter(count) : .closeAfter(count)
    let bench = try bench(fault.on(.nth(1)), fault.on(.nth(3)), fault.on(.nth(5)))
    try await bench.fetch { $0.connections = .fixed(1) }
    bench.expectFile(length: length)
    // Bytes under way at a reset may be lost with it; a close delivers them.
    if !resets { #expect(bench.origin.journal().bodyBytesSent() == length) }
    try await bench.fetch(to: "g") { $0.connections = .fixed(5) }
    bench.expectFile("g", length: length)
  }

  @Test("a server that cuts every answer still delivers, as long as each brings something")
  func cutsAll() async throws {
    let bench = try bench(Fault.closeAfter(MiB + 1).on(.every))
    let result = try await bench.fetch {
      $0.connections = .fixed(4)
      $0.retries = 1
    }
    bench.expectFile(length: length)
    #expect(result.retries >= 4)
  }

  @Test("silence replaces a connection")
  func stall() async throws {
    let bench = try bench(Fault.stallAfter(1000).on(.nth(1)), Fault.stallAfter(0).on(.nth(2)))
    try await bench.fetch { $0.silenceTimeout = 0.3 }
    bench.expectFile(length: length)
  }

  @Test("silence without an end is an error in the end")
  func silence() async throws {
    let bench = try bench(Fault.stallAfter(0).on(.every))
    let error = await bench.failure {
      $0.silenceTimeout = 0.2
      $0.retries = 1
    }
    #expect(error?.code == .network && error?.kept == nil)
    #expect(bench.names.isEmpty)
  }

  @Test("extra connections that are turned away do not hurt", arguments: [429, 503, 403], [nil, "1"])
  func limited(status: Int, retryAfter: String?) async throws {
    var configuration = OriginConfiguration()
    configuration.connectionLimit = .init(2, refusal: .status(status, retryAfter: retryAfter))
    let bench = try Bench(["/f": .reference(seed: 1, length: length)], configuration: configuration)
    try await bench.fetch { $0.connections = .fixed(6) }
    bench.expectFile(length: length)
  }

  @Test("extra connections that are reset do not hurt")
  func resetExtra() async throws {
    var configuration = OriginConfiguration()
    configuration.connectionLimit = .init(1, refusal: .reset)
    let bench = try Bench(["/f": .reference(seed: 1, length: length)], configuration: configuration)
    try await bench.fetch { $0.connections = .fixed(6) }
    bench.expectFile(length: length)
  }

  @Test("a server that always says not now is left alone after the retries")
  func unavailable() async throws {
    let bench = try bench(Fault.status(503, retryAfter: "0").on(.every))
    let error = await bench.failure { $0.retries = 2 }
    #expect(error?.code == .refused && error?.kept == nil)
    #expect(bench.origin.requests().count == 3)
    #expect(bench.names.isEmpty)
  }

  @Test("a server that says no is not asked again", arguments: [400, 401, 403, 404, 410])
  func refused(status: Int) async throws {
    let bench = try bench(Fault.status(status).on(.every))
    let error = await bench.failure()
    #expect(error?.code == .refused && error?.message.contains("\(status)") == true)
    #expect(bench.origin.requests().count == 1)
    #expect(bench.names.isEmpty)
  }

  @Test("a passing 500 at the start is overcome")
  func passing() async throws {
    let bench = try bench(Fault.status(500).on(.nth(1)))
    let result = try await bench.fetch()
    bench.expectFile(length: length)
    #expect(result.retries == 1)
  }

  @Test("a file that changes under way is an error where no restart is wanted, and what came of it is kept")
  func changed() async throws {
    let bench = try bench(
      Fault.gate("hold", at: MiB).on(.nth(1)), Fault.changedETag("\"new\"").on(.sinceNth(2)))
    let download = bench.start {
      $0.connections = .fixed(2)
      $0.restartsOnChange = false
    }
    let error = await download.failure()
    #expect(error?.code == .changed && error?.advice?.contains("--no-restart") == true)
    let kept = try #require(error?.kept)
    #expect(kept.path == bench.folder.path(of: "f.haul-part") && kept.total == length && kept.canResume)
    #expect(kept.written > 0 && kept.durable == kept.written)
    #expect(bench.names == ["f.haul", "f.haul-part"])
  }

  @Test(
    "lies about the range never reach the file",
    arguments: [
      Fault.shiftedContentRange(by: 100), .wrongTotal(7), .wrongTotal(nil), .missingContentRange, .multipart,
      .ignoreRange, .contentEncodingGzip, .shortRange(MiB), .status(206), .status(416), .status(304),
      .status(204),
    ] as [Fault], [1, 2])
  func lies(fault: Fault, nth: Int) async throws {
    // A lie to the first request may be overcome by asking for the whole file, one to a later one by asking again.
    let bench = try bench(fault.on(.nth(nth)))
    let download = bench.start { $0.connections = .fixed(2) }
    do throws(DownloadError) {
      _ = try await download.result()
      bench.expectFile(length: length)
    } catch {
      #expect(error.code == .changed || error.code == .brokenProtocol, "\(error)")
      #expect(!bench.names.contains("f"))
    }
  }

  @Test(
    "a server that always lies is an error or right",
    arguments: [
      Fault.shiftedContentRange(by: 100), .wrongTotal(7), .missingContentRange, .multipart,
      .contentEncodingGzip,
      .status(206), .status(416), .rawResponse(Array("SSH-2.0-x\r\n".utf8)), .rawResponse([]),
      .rawResponse(Array("HTTP/1.1 2x0 OK\r\n\r\n".utf8)),
    ] as [Fault])
  func alwaysLies(fault: Fault) async throws {
    let bench = try bench(fault.on(.every))
    let download = bench.start { $0.retries = 1 }
    do throws(DownloadError) {
      _ = try await download.result()
      bench.expectFile(length: length)
    } catch {
      #expect(error.code == .brokenProtocol || error.code == .network, "\(error)")
      #expect(bench.names.isEmpty)
    }
    #expect(bench.origin.requests().count < 60)
  }

  @Test("a head that is too large is not asked for again and again", arguments: [true, false])
  func largeHead(always: Bool) async throws {
    let field = Fault.header("X-Large", String(repeating: "x", count: 90_000))
    let fields = (0..<4).map { Fault.header("X-Large-\($0)", String(repeating: "x", count: 90_000)) }
    let rules = ([field] + fields).map { $0.on(always ? .every : .nth(1)) }
    let bench = try Bench(["/f": .reference(seed: 1, length: length, faults: rules)])
    let download = bench.start { $0.retries = 2 }
    do throws(DownloadError) {
      _ = try await download.result()
      #expect(!always)
      bench.expectFile(length: length)
    } catch {
      #expect(always && error.code == .brokenProtocol, "\(error)")
    }
    #expect(bench.origin.requests().count < 60)
  }

  @Test("a stream without a length whose repetition has no readable head is never called complete")
  func cutStream() async throws {
    var resource = OriginResource.reference(
      seed: 1, length: length,
      faults: [Fault.closeAfter(0).on(.nth(1))]
        + (0..<5).map {
          Fault.header("X-Large-\($0)", String(repeating: "x", count: 90_000)).on(.sinceNth(2))
        })
    resource.supportsRanges = false
    resource.framing = .chunked
    let bench = try Bench(["/f": resource])
    let error = await bench.failure { $0.retries = 1 }
    #expect(error?.code == .brokenProtocol || error?.code == .network)
    #expect(!bench.names.contains("f"))
  }

  @Test("a stream without ranges that is always cut ends in an error", arguments: [true, false])
  func alwaysCutStream(hasLength: Bool) async throws {
    var resource = OriginResource.reference(
      seed: 1, length: length, faults: [Fault.closeAfter(2 * MiB).on(.every)])
    resource.supportsRanges = false
    if !hasLength { resource.framing = .chunked }
    let bench = try Bench(["/f": resource])
    let error = await bench.failure { $0.retries = 2 }
    #expect(error?.code == .network)
    #expect(bench.origin.requests().count == 3)
    #expect(!bench.names.contains("f"))
  }

  @Test("a stream without ranges that is cut once is fetched again and right", arguments: [true, false])
  func cutOnce(hasLength: Bool) async throws {
    var resource = OriginResource.reference(
      seed: 1, length: length, faults: [Fault.closeAfter(2 * MiB).on(.nth(1))])
    resource.supportsRanges = false
    if !hasLength { resource.framing = .chunked }
    let bench = try Bench(["/f": resource])
    let result = try await bench.fetch()
    bench.expectFile(length: length)
    #expect(try result.sha256 == sha256(length: length))
    #expect(bench.origin.requests().count == 2)
  }

  @Test("more bytes than were announced do not reach the file")
  func extra() async throws {
    let bench = try bench(Fault.extraBytes(100).on(.every))
    try await bench.fetch()
    bench.expectFile(length: length)
  }

  // MARK: Wrong bytes

  @Test("wrong bytes that a digest finds are fetched again, once, over one connection")
  func wrongOnce() async throws {
    let bench = try bench(Fault.wrongBytes(9 * MiB..<9 * MiB + 10).on(.rangeContains(9 * MiB), times: 1))
    let wanted = try sha256(length: length)
    let download = bench.start(sha256: wanted) { $0.connections = .fixed(4) }
    let result = try await download.result()
    bench.expectFile(length: length)
    #expect(result.digestStatus == .verified && result.sha256 == wanted)
    #expect(bench.names == ["f"])
    #expect(download.takeNotices().contains { if case .startingOver = $0 { true } else { false } })
    #expect(result.receivedBytes == 2 * length)
  }

  @Test("bytes that stay wrong never get the final name, and a new try has to be asked for")
  func wrongAlways() async throws {
    let bench = try bench(Fault.wrongBytes(9 * MiB..<9 * MiB + 10).on(.every))
    let wanted = try sha256(length: length)
    let error = await bench.failure(sha256: wanted)
    #expect(error?.code == .digestMismatch)
    #expect(
      error?.message.contains(wanted) == true && error?.message.contains(bench.origin.url("/f")) == true)
    #expect(bench.names == ["f.haul", "f.haul-part"])
    let asked = bench.origin.requests().count
    #expect(await bench.failure(sha256: wanted)?.code == .digestMismatch)
    #expect(await bench.failure()?.code == .digestMismatch)
    #expect(bench.origin.requests().count == asked, "nothing is fetched where --overwrite is missing")
    bench.origin.put(.reference(seed: 1, length: length), at: "/f")
    let result = try await bench.fetch(sha256: wanted) { $0.overwrites = true }
    #expect(result.digestStatus == .verified)
    bench.expectFile(length: length)
    #expect(bench.names == ["f"])
  }

  @Test("a wrong digest of a file without a length is found as well")
  func wrongUnknownLength() async throws {
    var resource = OriginResource.reference(seed: 1, length: length)
    resource.supportsRanges = false
    resource.framing = .chunked
    let bench = try Bench(["/f": resource])
    let error = await bench.failure(sha256: try sha256(seed: 2, length: length))
    #expect(error?.code == .digestMismatch)
    #expect(!bench.names.contains("f"))
    #expect(bench.origin.requests().count == 2)
  }
}
