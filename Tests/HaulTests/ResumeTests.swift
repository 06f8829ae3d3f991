// SPDX-License-Identifier: Apache-2.0

import Haul
import HaulOrigin
import TestSupport
import Testing

private let MiB = 1 << 20

/// Stopping in the middle, and going on.
@Suite(.timeLimit(.minutes(10))) struct ResumeTests {
  private let length = 40 * MiB + 99

  /// A resource whose answers are held at `position` until the gate "hold" opens.
  private func gated(at position: Int = 700_000, _ tune: (inout OriginResource) -> Void = { _ in })
    -> OriginResource
  {
    var resource = OriginResource.reference(seed: 1, length: length)
    resource.gate = .init("hold", at: position)
    tune(&resource)
    return resource
  }

  /// Interrupts a download in the middle and leaves the origin with its gate open.
  private func halfDone(
    connections: Int = 3, sha256: String? = nil, at position: Int = 2_700_000,
    _ tune: (inout OriginResource) -> Void = { _ in }
  ) async throws -> (bench: Bench, kept: DownloadError.Kept) {
    let bench = try Bench(["/f": gated(at: position, tune)])
    let error = await bench.interrupted(sha256: sha256, held: connections) {
      $0.connections = .fixed(connections)
    }
    #expect(error?.code == .interrupted)
    // Before the origin has noticed, an open gate would let it send into the void.
    bench.wait { $0.activeRequests == 0 }
    bench.origin.openGate("hold")
    return (bench, try #require(error?.kept))
  }

  @Test("an interruption keeps every byte, and the next run asks only for the others", arguments: [1, 3, 8])
  func resumes(connections: Int) async throws {
    let (bench, kept) = try await halfDone(connections: connections, at: 700_000)
    #expect(kept.path == bench.folder.path(of: "f.haul-part"))
    #expect(kept.total == length && kept.canResume)
    #expect(kept.durable == kept.written && kept.written > 0)
    #expect(bench.names == ["f.haul", "f.haul-part"])
    let before = bench.origin.journal()
    #expect(kept.written == before.distinctBytesSent())

    let download = bench.start { $0.connections = .fixed(4) }
    let result = try await download.result()
    bench.expectFile(length: length)
    #expect(try result.sha256 == sha256(length: length))
    #expect(result.resumedBytes == kept.written && result.receivedBytes == length - kept.written)
    #expect(download.takeNotices() == [.resuming(bytes: kept.written)])
    #expect(bench.names == ["f"])
    let first = before.sentRanges()
    for range in asked(bench.origin.requests().dropFirst(before.requests.count), length: length) {
      #expect(first.allSatisfy { !$0.overlaps(range) }, "\(range) was there")
    }
  }

  @Test("a resume does not wait until the digest has passed what is there")
  func digestBehind() async throws {
    let (length, disk) = (220 * MiB, FaultyDisk())
    var resource = OriginResource.reference(seed: 1, length: length)
    resource.faults = [Fault.gate("hold", at: 0).on(.rangeContains(150 * MiB))]
    let bench = try Bench(["/f": resource], disk: disk)
    let kept = await bench.interrupted(held: 1) { $0.connections = .fixed(1) }?.kept
    // A lease is at most half of what is missing, so the held one begins behind 80 MiB.
    let present = try #require(kept?.written)
    try #require(present > 64 * MiB)
    bench.wait { $0.activeRequests == 0 }
    bench.origin.openGate("hold")
    let before = bench.origin.requests().count
    disk.change { $0.holdsReadsAt = 0 }
    let second = bench.start { $0.connections = .fixed(2) }
    // More than any socket holds: it has been read, while the digest still stands at the first byte.
    bench.wait { $0.requests.dropFirst(before).reduce(0) { $0 + $1.bodyBytesSent } >= length - present }
    disk.change { $0.holdsReadsAt = nil }
    _ = try await second.result()
    bench.expectFile(length: length)
  }

  @Test("many interruptions in a row lose nothing")
  func manyTimes() async throws {
    let bench = try Bench()
    var last = 0
    for round in 0..<5 {
      bench.origin.put(gated(at: 1_500_000 + 1000 * round), at: "/f")
      let before = bench.origin.requests().count
      let download = bench.start { $0.connections = .fixed(3) }
      bench.wait { $0.requests.dropFirst(before).count { $0.heldAt == "hold" } == 3 }
      let sent = bench.origin.requests().dropFirst(before).reduce(0) { $0 + $1.bodyBytesSent }
      download.waitUntil { $0.received >= last + sent }
      download.cancel()
      let error = await download.failure()
      #expect(error?.kept?.written == last + sent)
      last = error?.kept?.written ?? 0
    }
    bench.wait { $0.activeRequests == 0 }
    bench.origin.openGate("hold")
    let result = try await bench.fetch { $0.connections = .fixed(1) }
    bench.expectFile(length: length)
    #expect(result.resumedBytes == last)
    #expect(bench.origin.journal().bodyBytesSent() == length)
  }

  @Test("what is cancelled before its first byte leaves nothing")
  func beforeFirstByte() async throws {
    let bench = try Bench(["/f": gated(at: 0)])
    let held = await bench.interrupted(held: 1) { $0.connections = .fixed(1) }
    #expect(held?.code == .interrupted && held?.kept == nil)
    #expect(bench.names.isEmpty)
  }

  @Test("what is cancelled at once leaves nothing", arguments: 0..<20)
  func atOnce(round: Int) async throws {
    let bench = try Bench(["/f": .reference(seed: 1, length: 0), "/": .reference(seed: 1, length: 0)])
    bench.origin.update("/f") {
      $0.faults = [Fault.stallAfter(0).on(.every), Fault.delay(10_000).on(.every)]
    }
    bench.origin.update("/") { $0.faults = [Fault.delay(10_000).on(.every)] }
    let (named, unnamed) = (bench.start(), bench.start("/", to: nil))
    // Whether the files are open by then is left to chance.
    for _ in 0..<round * 2000 where named.outcome == nil {}
    named.cancel()
    unnamed.cancel()
    #expect(await named.failure()?.code == .interrupted)
    #expect(await unnamed.failure()?.code == .interrupted)
    #expect(bench.names.isEmpty)
  }

  @Test("an interruption of a resumed run before its first answer keeps what was there, and says so")
  func interruptedAgain() async throws {
    let (bench, kept) = try await halfDone()
    bench.origin.put(gated(at: 0), at: "/f")
    bench.origin.closeGate("hold")
    let before = bench.origin.requests().count
    bench.origin.update("/f") { $0.faults = [Fault.delay(100_000).on(.every)] }
    let download = bench.start()
    bench.wait { $0.requests.count > before }
    download.cancel()
    let error = await download.failure()
    #expect(error?.code == .interrupted)
    #expect(error?.kept == kept)
    bench.origin.put(.reference(seed: 1, length: length), at: "/f")
    let result = try await bench.fetch()
    #expect(result.resumedBytes == kept.written)
    bench.expectFile(length: length)
  }

  @Test("a run that finds every byte there asks for none")
  func everythingThere() async throws {
    // A file that appears under the final name keeps the finished download from taking it.
    let bench = try Bench(["/f": gated()])
    let download = bench.start { $0.connections = .fixed(2) }
    bench.wait { $0.requests.count { $0.heldAt == "hold" } == 2 }
    try bench.write([1, 2, 3], to: "f")
    bench.origin.openGate("hold")
    let error = await download.failure()
    #expect(error?.code == .exists && error?.kept?.written == length)
    #expect(bench.read("f", at: 0, count: 10) == [1, 2, 3])
    #expect(await bench.failure()?.code == .exists)
    let asked = bench.origin.requests().count
    let result = try await bench.fetch { $0.overwrites = true }
    #expect(result.resumedBytes == length && result.receivedBytes == 0)
    #expect(try result.sha256 == sha256(length: length))
    #expect(bench.origin.requests().count == asked)
    bench.expectFile(length: length)
  }

  @Test("a file that changed meanwhile is an error where no restart is wanted, and the bytes stay")
  func changed() async throws {
    let (bench, kept) = try await halfDone()
    bench.origin.update("/f") { $0.etag = "\"other\"" }
    let error = await bench.failure { $0.restartsOnChange = false }
    #expect(error?.code == .changed)
    #expect(error?.kept == kept)
    #expect(bench.names == ["f.haul", "f.haul-part"])
    bench.origin.put(.reference(seed: 1, length: length), at: "/f")
    #expect(try await bench.fetch().resumedBytes == kept.written)
    bench.expectFile(length: length)
  }

  @Test("a length that changed meanwhile is a change as well: the new file from its first byte")
  func otherLength() async throws {
    let (bench, _) = try await halfDone { $0.etag = "\"same\"" }
    var longer = OriginResource.reference(seed: 1, length: length + 1)
    longer.etag = "\"same\""
    bench.origin.put(longer, at: "/f")
    let download = bench.start()
    let result = try await download.result()
    bench.expectFile(length: length + 1)
    #expect(result.resumedBytes == 0)
    #expect(download.takeNotices().contains { if case .startingOver = $0 { true } else { false } })
  }

  @Test("the partial of another source is left alone, unless it is to be overwritten")
  func occupied() async throws {
    let (bench, kept) = try await halfDone()
    bench.origin.put(.reference(seed: 2, length: 5 * MiB), at: "/other")
    let error = await bench.failure("/other")
    #expect(error?.code == .occupied && error?.kept == kept)
    #expect(bench.names == ["f.haul", "f.haul-part"])
    #expect(await bench.failure("/other", sha256: try sha256(seed: 2, length: 5 * MiB))?.code == .occupied)
    let download = bench.start("/other") { $0.overwrites = true }
    _ = try await download.result()
    bench.expectFile(seed: 2, length: 5 * MiB)
    #expect(download.takeNotices().contains(.discarding(bytes: kept.written, why: "--overwrite")))
    #expect(bench.names == ["f"])
  }

  @Test("without a validator a new run starts over, and says so")
  func tierNone() async throws {
    let (bench, kept) = try await halfDone {
      $0.etag = nil
      $0.lastModified = nil
    }
    #expect(!kept.canResume)
    let download = bench.start()
    let result = try await download.result()
    #expect(result.resumedBytes == 0 && result.receivedBytes == length)
    bench.expectFile(length: length)
    let isSaid = download.takeNotices().contains {
      if case .discarding(bytes: kept.written, why: _) = $0 { true } else { false }
    }
    #expect(isSaid)
  }

  @Test("without a validator a new run goes on where it is forced to")
  func tierNoneForced() async throws {
    let (bench, kept) = try await halfDone {
      $0.etag = nil
      $0.lastModified = nil
    }
    let result = try await bench.fetch { $0.forcesResume = true }
    #expect(result.resumedBytes == kept.written && result.receivedBytes == length - kept.written)
    bench.expectFile(length: length)
  }

  @Test("without a validator a digest is enough to go on")
  func tierDigest() async throws {
    let wanted = try sha256(length: length)
    let (bench, kept) = try await halfDone(sha256: wanted) {
      $0.etag = nil
      $0.lastModified = nil
    }
    #expect(kept.canResume)
    let result = try await bench.fetch(sha256: wanted)
    #expect(result.resumedBytes == kept.written && result.digestStatus == .verified)
    bench.expectFile(length: length)
  }

  @Test("one digest goes on from another URL, whatever its validator is there")
  func otherURL() async throws {
    let wanted = try sha256(length: length)
    let (bench, kept) = try await halfDone(sha256: wanted)
    var mirror = OriginResource.reference(seed: 1, length: length)
    mirror.etag = "\"of the mirror\""
    bench.origin.put(mirror, at: "/mirror")
    let result = try await bench.fetch("/mirror", sha256: wanted)
    #expect(result.resumedBytes == kept.written && result.digestStatus == .verified)
    bench.expectFile(length: length)
  }

  @Test("one damaged chunk on the disk is found and fetched again", arguments: [true, false], [true, false])
  func damaged(computesDigest: Bool, hasDigest: Bool) async throws {
    let wanted = hasDigest ? try sha256(length: length) : nil
    let (bench, kept) = try await halfDone(sha256: wanted)
    try bench.flip("f.haul-part", at: 1_000_000)
    let download = bench.start(sha256: wanted) { $0.computesDigest = computesDigest }
    let result = try await download.result()
    bench.expectFile(length: length)
    #expect(download.takeNotices().contains(.damagedChunks(count: 1)))
    #expect(result.receivedBytes == length - kept.written + MiB)
    if hasDigest { #expect(result.digestStatus == .verified) }
  }

  @Test("a damaged chunk is found though every byte seemed to be there")
  func damagedWhole() async throws {
    let bench = try Bench(["/f": gated()])
    let download = bench.start { $0.connections = .fixed(2) }
    bench.wait { $0.requests.count { $0.heldAt == "hold" } == 2 }
    try bench.write([1], to: "f")
    bench.origin.openGate("hold")
    #expect(await download.failure()?.code == .exists)
    try bench.flip("f.haul-part", at: length - 1)
    let result = try await bench.fetch { $0.overwrites = true }
    #expect(result.receivedBytes == 99)
    bench.expectFile(length: length)
  }

  @Test("a damaged start of an unfinished chunk is fetched again")
  func damagedPrefix() async throws {
    let (bench, _) = try await halfDone(connections: 1)
    try bench.flip("f.haul-part", at: 2 * MiB + 5)
    try await bench.fetch()
    bench.expectFile(length: length)
  }

  @Test(
    "a server that lost its ranges meanwhile sends everything, and damage heals as well",
    arguments: [true, false])
  func rangesLost(isDamaged: Bool) async throws {
    let (bench, _) = try await halfDone()
    if isDamaged { try bench.flip("f.haul-part", at: 1_000_000) }
    bench.origin.update("/f") { $0.supportsRanges = false }
    let result = try await bench.fetch()
    bench.expectFile(length: length)
    #expect(try result.sha256 == sha256(length: length))
  }

  @Test("a server that lost its ranges and its length never makes a wrong file", arguments: [0, -1, 1])
  func lengthLost(difference: Int) async throws {
    let (bench, _) = try await halfDone()
    bench.origin.update("/f") {
      $0.content = .reference(ReferenceContent(seed: 1, length: length + difference))
      $0.supportsRanges = false
      $0.framing = .chunked
    }
    let download = bench.start { $0.retries = 1 }
    do throws(DownloadError) {
      _ = try await download.result()
      bench.expectFile(length: length + difference)
    } catch {
      #expect(difference != 0)
      #expect(!bench.names.contains("f"))
    }
  }

  @Test("a damaged manifest costs the bytes, never the file")
  func damagedManifest() async throws {
    let (bench, _) = try await halfDone()
    for offset in [200, 4096 + 200] { try bench.flip("f.haul", at: offset) }
    let download = bench.start()
    _ = try await download.result()
    bench.expectFile(length: length)
    #expect(bench.names == ["f"])
    #expect(!download.takeNotices().isEmpty, "what is thrown away is said")
  }

  @Test("damage anywhere in the manifest never makes a wrong file", arguments: 0..<24)
  func damagedAnywhere(seed: UInt64) async throws {
    let (bench, _) = try await halfDone(connections: 2, at: 1_300_000)
    var dice = SeededGenerator(seed: seed)
    for _ in 0..<4 { try bench.flip("f.haul", at: Int.random(in: 8..<20_000, using: &dice)) }
    try await bench.fetch()
    bench.expectFile(length: length)
  }

  @Test("a stranger's file beside it is left alone")
  func strangersManifest() async throws {
    let bench = try Bench(["/f": .reference(seed: 1, length: length)])
    try bench.write(Array("not yours".utf8), to: "f.haul")
    #expect(await bench.failure()?.code == .occupied)
    #expect(bench.names == ["f.haul"] && bench.read("f.haul", at: 0, count: 20) == Array("not yours".utf8))
  }

  // MARK: A file that is there

  @Test("a file that is there is not touched")
  func exists() async throws {
    let bench = try Bench(["/f": .reference(seed: 1, length: length)])
    try bench.write([7, 7, 7], to: "f")
    let error = await bench.failure()
    #expect(error?.code == .exists && bench.origin.requests().isEmpty)
    #expect(bench.read("f", at: 0, count: 10) == [7, 7, 7] && bench.names == ["f"])
    try await bench.fetch { $0.overwrites = true }
    bench.expectFile(length: length)
  }

  @Test("a file that is there and right is complete")
  func complete() async throws {
    let content = ReferenceContent(seed: 1, length: 1000)
    let bench = try Bench(["/f": .reference(seed: 1, length: 1000)])
    try bench.write(content.bytes(in: 0..<1000), to: "f")
    let result = try await bench.fetch(sha256: try sha256(length: 1000))
    #expect(result.wasComplete && result.digestStatus == .verified && result.length == 1000)
    #expect(bench.origin.requests().isEmpty && bench.names == ["f"])
  }

  @Test("a file that is there and another one is not touched")
  func another() async throws {
    let bench = try Bench(["/f": .reference(seed: 1, length: 1000)])
    try bench.write([7, 7, 7], to: "f")
    #expect(await bench.failure(sha256: try sha256(length: 1000))?.code == .exists)
    #expect(bench.origin.requests().isEmpty && bench.read("f", at: 0, count: 10) == [7, 7, 7])
  }

  @Test("a file that another downloader works on is busy, and goes on")
  func busy() async throws {
    let bench = try Bench(["/f": gated()])
    let download = bench.start { $0.connections = .fixed(2) }
    bench.wait { $0.requests.count { $0.heldAt == "hold" } == 2 }
    #expect(await bench.failure()?.code == .busy)
    let other = try Downloader()
    #expect(await other.start(bench.request()).failure()?.code == .busy)
    bench.origin.openGate("hold")
    _ = try await download.result()
    bench.expectFile(length: length)
  }
}
