// SPDX-License-Identifier: Apache-2.0

import Haul
import HaulOrigin
import TestSupport
import Testing

private let MiB = 1 << 20
private let length = 24 * MiB + 3

/// Is it still the same file? Bytes of two versions in one file would show in every one of these.
@Suite(.timeLimit(.minutes(10))) struct GenerationTests {
  /// Content made from `seed`, with a tag and a date of its own, held at `gate`.
  private func version(_ seed: UInt64, gate: String? = nil) -> OriginResource {
    var resource = OriginResource.reference(seed: seed, length: length)
    resource.lastModified = "Tue, 0\(seed) Jan 2024 03:04:05 GMT"
    resource.gate = gate.map { .init($0, at: MiB) }
    return resource
  }

  private func held(_ bench: Bench, at gate: String) {
    bench.wait { $0.requests.count { $0.heldAt == gate } == 2 }
  }

  private func startsOver(_ download: Download) -> Int {
    download.takeNotices().count { if case .startingOver = $0 { true } else { false } }
  }

  /// Whether the request is one of those that only want to know what the file is now.
  private func isQuestion(_ request: RequestRecord) -> Bool { request.range == .closed(0, 1023) }

  // MARK: A changed file

  @Test("a file that changes under way is fetched anew, by itself, and no old byte survives")
  func changes() async throws {
    let bench = try Bench(["/f": version(1, gate: "one")])
    let download = bench.start { $0.connections = .fixed(2) }
    held(bench, at: "one")
    bench.origin.put(version(2), at: "/f")
    bench.origin.openGate("one")
    _ = try await download.result()
    bench.expectFile(seed: 2, length: length)
    #expect(startsOver(download) == 1)
    #expect(bench.names == ["f"])
    // Asked of three fresh connections before anything was thrown away.
    let questions = bench.origin.requests().filter(isQuestion)
    #expect(questions.count == 3 && Set(questions.map(\.connection)).count == 3)
    #expect(questions.allSatisfy { request in !request.fields.contains { $0.name == "If-Match" } })
  }

  @Test("a start over asks the URL that was given: where it has led to may have run out meanwhile")
  func changesBehindLink() async throws {
    let bench = try Bench(["/f": version(1, gate: "one"), "/link": .redirect(to: "/f?Signature=1")])
    let download = bench.start("/link") { $0.connections = .fixed(2) }
    held(bench, at: "one")
    var second = version(2)
    second.faults = [
      Fault.status(403).on(
        .custom { $0.target.contains("Signature=1") && $0.fields["Range"] == "bytes=0-4194303" })
    ]
    bench.origin.put(second, at: "/f")
    bench.origin.put(.redirect(to: "/f?Signature=2"), at: "/link")
    bench.origin.openGate("one")
    _ = try await download.result()
    bench.expectFile(seed: 2, length: length)
    #expect(startsOver(download) == 1)
    #expect(bench.origin.requests().count { $0.target == "/link" } == 2)
  }

  @Test("a file that changes again is being modified: an error, nothing under the final name")
  func changesTwice() async throws {
    let bench = try Bench(["/f": version(1, gate: "one")])
    let download = bench.start { $0.connections = .fixed(2) }
    held(bench, at: "one")
    bench.origin.put(version(2, gate: "two"), at: "/f")
    bench.origin.openGate("one")
    // A lease of the new generation; others of it may have been turned away before.
    let second = version(2).etag
    bench.wait { $0.requests.contains { $0.heldAt == "two" && $0.fields["If-Match"] == second } }
    bench.origin.put(version(3), at: "/f")
    bench.origin.openGate("two")
    let error = await download.failure()
    #expect(error?.code == .changed && error?.message.contains("being modified") == true)
    #expect(!bench.names.contains("f"))
    // Once it holds still, the same command ends well.
    try await bench.fetch()
    bench.expectFile(seed: 3, length: length)
  }

  @Test("what an earlier run left of another version is thrown away once all agree, and only then")
  func resume() async throws {
    let bench = try Bench(["/f": version(1, gate: "hold")])
    _ = await bench.interrupted(held: 2) { $0.connections = .fixed(2) }
    bench.wait { $0.activeRequests == 0 }
    bench.origin.put(version(2), at: "/f")
    let download = bench.start()
    let result = try await download.result()
    bench.expectFile(seed: 2, length: length)
    #expect(startsOver(download) == 1 && result.resumedBytes == 0)
    #expect(bench.origin.requests().filter(isQuestion).count == 3)
  }

  @Test("a login page neither replaces what is there nor becomes the file")
  func loginPage() async throws {
    let bench = try Bench(["/f": version(1, gate: "hold")])
    let kept = await bench.interrupted(held: 2) { $0.connections = .fixed(2) }?.kept
    bench.wait { $0.activeRequests == 0 }
    var page = OriginResource(.bytes(Array("<html>please log in</html>".utf8)))
    page.contentType = "text/html"
    page.supportsRanges = false
    bench.origin.put(page, at: "/f")
    let error = await bench.failure { $0.retries = 1 }
    #expect(error?.code == .brokenProtocol && error?.kept == kept && kept != nil)
    bench.origin.put(version(1), at: "/f")
    #expect(try await bench.fetch().resumedBytes == kept?.written)
    bench.expectFile(length: length)
  }

  @Test("a web page that has changed is fetched anew like any other file")
  func page() async throws {
    func page(_ seed: UInt64, gate: String? = nil) -> OriginResource {
      var page = version(seed, gate: gate)
      page.contentType = "text/html; charset=utf-8"
      return page
    }
    let bench = try Bench(["/a.html": page(1, gate: "hold")])
    _ = await bench.interrupted("/a.html", held: 2) { $0.connections = .fixed(2) }
    bench.wait { $0.activeRequests == 0 }
    bench.origin.put(page(2), at: "/a.html")
    let download = bench.start("/a.html")
    _ = try await download.result()
    bench.expectFile(seed: 2, length: length)
    #expect(startsOver(download) == 1)
  }

  // MARK: Backends

  @Test("a tag that differs from backend to backend costs a few questions, and no byte")
  func perBackend() async throws {
    let faults = (1...20).map { Fault.changedETag("\"other\"").on(.connection(2 * $0)) }
    let bench = try Bench(["/f": .reference(seed: 1, length: length, faults: faults)])
    let download = bench.start { $0.connections = .fixed(4) }
    let result = try await download.result()
    bench.expectFile(length: length)
    #expect(result.receivedBytes == length && startsOver(download) == 0)
    #expect(bench.origin.requests().filter(isQuestion).count <= 3)
  }

  @Test("a tag that differs in every answer says nothing", arguments: [true, false])
  func random(hasDate: Bool) async throws {
    var resource = OriginResource.reference(seed: 1, length: length)
    resource.faults = (1...200).map { Fault.changedETag("\"\($0)\"").on(.nth($0)) }
    if !hasDate { resource.lastModified = nil }
    let bench = try Bench(["/f": resource])
    let download = bench.start { $0.connections = .fixed(4) }
    let result = try await download.result()
    bench.expectFile(length: length)
    if hasDate { #expect(result.receivedBytes == length) }
    // Without a date only one answer belongs together for sure.
    #expect(startsOver(download) == (hasDate ? 0 : 1))
  }

  @Test("a stale mirror among the connections never gets a byte into the file")
  func staleMirror() async throws {
    let faults = (1...100).flatMap { number -> [FaultRule] in
      let match = RequestMatch.connection(2 * number)
      return [
        Fault.changedETag("\"stale\"").on(match), Fault.wrongBytes(0..<length).on(match),
        Fault.header("Last-Modified", "Mon, 01 Jan 2024 00:00:00 GMT").on(match),
      ]
    }
    let bench = try Bench(["/f": .reference(seed: 1, length: length, faults: faults)])
    let download = bench.start { $0.connections = .fixed(4) }
    _ = try await download.result()
    bench.expectFile(length: length)
    #expect(startsOver(download) == 0)
  }

  // MARK: Conditions

  @Test("every request after the first is bound to the tag, or else to a strong date")
  func conditions() async throws {
    let bench = try Bench(["/f": version(1)])
    try await bench.fetch { $0.connections = .fixed(2) }
    let tag = version(1).etag
    let tags = bench.origin.requests().map { $0.fields["If-Match"] }
    #expect(tags.first == .some(nil) && tags.count > 1)
    #expect(tags.dropFirst().allSatisfy { $0 == tag })
    bench.origin.update("/f") { $0.etag = "W/\"weak\"" }
    let before = bench.origin.requests().count
    try await bench.fetch(to: "g") { $0.connections = .fixed(2) }
    let dates = bench.origin.requests().dropFirst(before).map { $0.fields["If-Unmodified-Since"] }
    #expect(dates.first == .some(nil) && dates.count > 1)
    #expect(dates.dropFirst().allSatisfy { $0 == version(1).lastModified })
    #expect(bench.origin.requests().dropFirst(before).allSatisfy { $0.fields["If-Match"] == nil })
  }

  @Test(
    "a server that mishandles conditions is asked without them",
    arguments: [Fault.status(412), .ignoreRange] as [Fault], ["If-Match", "If-Unmodified-Since"])
  func mishandled(fault: Fault, field: String) async throws {
    var resource = version(1)
    resource.faults = [fault.on(.withHeader(field))]
    if field == "If-Unmodified-Since" { resource.etag = nil }
    let bench = try Bench(["/f": resource])
    let download = bench.start {
      $0.connections = .fixed(4)
      $0.retries = 0
    }
    let result = try await download.result()
    bench.expectFile(length: length)
    #expect(result.receivedBytes == length && startsOver(download) == 0)
    #expect(bench.origin.requests().count { $0.fields[field] != nil } <= 4)
  }

  // MARK: No validator

  @Test("without any validator parts are combined within one run")
  func noValidator() async throws {
    var resource = version(1)
    (resource.etag, resource.lastModified) = (nil, nil)
    let bench = try Bench(["/f": resource])
    let result = try await bench.fetch { $0.connections = .fixed(4) }
    bench.expectFile(length: length)
    #expect(result.receivedBytes == length && result.connections > 1)
  }
}
