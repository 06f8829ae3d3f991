// SPDX-License-Identifier: Apache-2.0

import Haul
import HaulOrigin
import TestSupport
import Testing

private let MiB = 1 << 20
private let length = 24 * MiB + 3

/// Servers that stop doing what they did: ranges, links, lengths.
@Suite(.timeLimit(.minutes(10))) struct FallbackTests {
  private func bench(_ faults: [FaultRule], _ tune: (inout OriginResource) -> Void = { _ in }) throws -> Bench
  {
    var resource = OriginResource.reference(seed: 1, length: length, faults: faults)
    tune(&resource)
    return try Bench(["/f": resource])
  }

  private func startsOver(_ download: Download) -> Int {
    download.takeNotices().count { if case .startingOver = $0 { true } else { false } }
  }

  // MARK: Ranges

  @Test(
    "a server that stops giving parts sends the rest as one answer, and nothing is thrown away",
    arguments: [Fault.ignoreRange, .multipart, .missingContentRange, .shiftedContentRange(by: 77)] as [Fault])
  func rangesLost(fault: Fault) async throws {
    let bench = try bench([fault.on(.all([.sinceNth(3), .withRange]))])
    let download = bench.start { $0.connections = .fixed(2) }
    _ = try await download.result()
    bench.expectFile(length: length)
    #expect(startsOver(download) == 0)
    let requests = bench.origin.requests()
    #expect(requests.count { $0.range == nil } == 1 && requests.count < 20)
  }

  @Test("without a validator that one answer replaces what was there")
  func rangesLostWithoutValidator() async throws {
    let bench = try bench([Fault.ignoreRange.on(.sinceNth(3))]) { ($0.etag, $0.lastModified) = (nil, nil) }
    let download = bench.start { $0.connections = .fixed(2) }
    let result = try await download.result()
    bench.expectFile(length: length)
    #expect(startsOver(download) == 1)
    #expect(try result.sha256 == sha256(length: length))
  }

  @Test("parts that begin before what was asked for lose their overlap", arguments: [7, 1000, 300_000])
  func overlap(block: Int) async throws {
    let bench = try bench([Fault.blockAligned(block).on(.every)])
    let result = try await bench.fetch { $0.connections = .fixed(3) }
    bench.expectFile(length: length)
    #expect(result.receivedBytes == length)
  }

  @Test(
    "a 416 that tells no length, and one that tells the right one, are asked again", arguments: [true, false])
  func unsatisfied(tellsLength: Bool) async throws {
    var faults = [Fault.status(416).on(.nth(2))]
    if tellsLength { faults.append(Fault.header("Content-Range", "bytes */\(length)").on(.nth(2))) }
    let bench = try bench(faults)
    let result = try await bench.fetch { $0.connections = .fixed(2) }
    bench.expectFile(length: length)
    #expect(result.receivedBytes == length)
  }

  @Test("a chunked part is taken like any other")
  func chunkedPart() async throws {
    let bench = try bench([Fault.chunked.on(.every)])
    let result = try await bench.fetch { $0.connections = .fixed(3) }
    bench.expectFile(length: length)
    #expect(result.receivedBytes == length)
  }

  // MARK: Framing

  private func unframed() throws -> Bench {
    try bench([]) {
      $0.supportsRanges = false
      $0.framing = .close
    }
  }

  @Test("an answer whose end cannot be told from a cut is no finished file; its bytes are kept")
  func closeDelimited() async throws {
    let bench = try unframed()
    let error = await bench.failure()
    #expect(error?.code == .brokenProtocol && error?.advice?.contains("--accept-unframed") == true)
    #expect(error?.kept?.written == length && error?.kept?.canResume == false)
    #expect(bench.names == ["f.haul-part"])
    bench.expectFile("f.haul-part", length: length)
  }

  @Test("such an answer is accepted where the user or a digest vouches for it", arguments: [true, false])
  func closeDelimitedAccepted(hasDigest: Bool) async throws {
    let bench = try unframed()
    let wanted = hasDigest ? try sha256(length: length) : nil
    let result = try await bench.fetch(sha256: wanted) { $0.acceptsUnframed = !hasDigest }
    bench.expectFile(length: length)
    #expect(result.digestStatus == (hasDigest ? .verified : .computed))
  }

  @Test("such an answer does not touch what an earlier run left")
  func closeDelimitedResume() async throws {
    let bench = try bench([]) { $0.gate = .init("hold", at: MiB) }
    let kept = await bench.interrupted(held: 2) { $0.connections = .fixed(2) }?.kept
    bench.wait { $0.activeRequests == 0 }
    bench.origin.openGate("hold")
    bench.origin.update("/f") {
      $0.supportsRanges = false
      $0.framing = .close
    }
    let error = await bench.failure()
    #expect(error?.code == .brokenProtocol && error?.kept == kept && kept != nil)
  }

  // MARK: Links

  /// A redirect to a link that is good for `count` requests, and then to another one.
  private func signed(good count: Int, status: Int) throws -> Bench {
    let bench = try bench([
      Fault.status(status).on(.all([.sinceNth(count + 1), .targetContains("Signature=1")]))
    ])
    bench.origin.put(.redirect(to: "/f?Signature=1"), at: "/link")
    bench.origin.update("/link") { $0.faults = [Fault.redirect(to: "/f?Signature=2").on(.sinceNth(2))] }
    return bench
  }

  @Test(
    "a link that runs out is renewed once, for all connections together", arguments: [403, 404, 410], [1, 5])
  func renewal(status: Int, connections: Int) async throws {
    let bench = try signed(good: 2, status: status)
    let result = try await bench.fetch("/link") { $0.connections = .fixed(connections) }
    bench.expectFile(length: length)
    #expect(bench.origin.requests().count { $0.target == "/link" } == 2)
    #expect(result.receivedBytes == length)
  }

  /// A redirect to `/f`, and once that has run out to `/moved`, which has the same validators.
  private func moving(seed: UInt64) throws -> Bench {
    let bench = try bench([Fault.status(403).on(.sinceNth(3))])
    var moved = OriginResource.reference(seed: 1, length: length)
    moved.content = .reference(ReferenceContent(seed: seed, length: length))
    bench.origin.put(moved, at: "/moved")
    bench.origin.put(.redirect(to: "/f"), at: "/link")
    bench.origin.update("/link") { $0.faults = [Fault.redirect(to: "/moved").on(.sinceNth(2))] }
    return bench
  }

  @Test("a renewed link that leads to another place goes on there once some chunks were compared")
  func moved() async throws {
    let bench = try moving(seed: 1)
    let download = bench.start("/link") { $0.connections = .fixed(2) }
    let result = try await download.result()
    bench.expectFile(length: length)
    #expect(result.comparedChunks > 0 && result.comparedChunks <= 3)
    #expect(result.receivedBytes == length + result.comparedChunks * MiB)
    let first = bench.origin.url("/f")
    #expect(
      download.takeNotices().contains(
        .continuingFromOtherSource(source: first, comparedChunks: result.comparedChunks)))
  }

  @Test(
    "other bytes under the same validators at the new place are an error; what is there is kept, now and at the next run"
  )
  func movedToOther() async throws {
    let bench = try moving(seed: 2)
    let error = await bench.failure("/link") {
      $0.connections = .fixed(2)
      $0.retries = 1
    }
    #expect(error?.code == .changed && (error?.kept?.written ?? 0) > 0, "\(String(describing: error))")
    #expect(error?.message.contains("/moved") == true && error?.advice?.contains("--overwrite") == true)
    // The URL leads there still, with the same validators.
    let again = await bench.failure("/link") { $0.retries = 1 }
    #expect(again?.code == .changed && again?.kept == error?.kept, "\(String(describing: again))")
    try await bench.fetch("/link") { $0.overwrites = true }
    bench.expectFile(seed: 2, length: length)
  }

  @Test("a resume whose URL leads to another place now compares first, and the manifest then names that one")
  func movedBetweenRuns() async throws {
    let bench = try bench([]) { $0.gate = .init("hold", at: 3 * MiB) }
    bench.origin.put(.redirect(to: "/f"), at: "/link")
    let kept = await bench.interrupted("/link", held: 2) { $0.connections = .fixed(2) }?.kept
    bench.wait { $0.activeRequests == 0 }
    var moved = OriginResource.reference(seed: 1, length: length)
    moved.gate = .init("again", at: 2 * MiB)
    bench.origin.put(moved, at: "/moved")
    bench.origin.put(.redirect(to: "/moved"), at: "/link")
    let download = bench.start("/link") { $0.connections = .fixed(1) }
    bench.origin.openGate("hold")
    bench.wait { $0.requests.contains { $0.heldAt == "again" } }
    download.cancel()
    #expect(await download.failure()?.code == .interrupted)
    bench.wait { $0.activeRequests == 0 }
    bench.origin.update("/moved") { $0.gate = nil }
    let result = try await bench.fetch("/link")
    bench.expectFile(length: length)
    #expect(result.comparedChunks == 0 && result.resumedBytes >= (kept?.written ?? 0))
  }

  @Test("a link that cannot be renewed is an error, and what has come is kept")
  func renewedInVain() async throws {
    let bench = try signed(good: 2, status: 403)
    bench.origin.update("/link") { $0.faults = [] }
    let error = await bench.failure("/link") { $0.connections = .fixed(3) }
    #expect(error?.code == .refused)
    #expect((error?.kept?.written ?? 0) > 0 && error?.kept?.canResume == true)
    #expect(bench.origin.requests().count { $0.target == "/link" } == 2)
  }
}
