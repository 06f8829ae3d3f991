// SPDX-License-Identifier: Apache-2.0

import Haul
import HaulOrigin
import TestSupport
import Testing

private let MiB = 1 << 20
private let length = 40 * MiB + 99

/// A partial that another URL is to complete: only where its bytes prove to be the same.
@Suite(.timeLimit(.minutes(10))) struct OtherSourceTests {
  /// As nginx has it for every file of one size and one time.
  private func resource(seed: UInt64) -> OriginResource {
    var resource = OriginResource.reference(seed: seed, length: length)
    resource.etag = "\"65937e85-1800003\""
    return resource
  }

  /// Interrupts a download of "/f" in the middle.
  private func halfDone() async throws -> (bench: Bench, kept: DownloadError.Kept) {
    var gated = resource(seed: 1)
    gated.gate = .init("hold", at: 2_700_000)
    let bench = try Bench(["/f": gated])
    let error = await bench.interrupted(held: 3) { $0.connections = .fixed(3) }
    bench.wait { $0.activeRequests == 0 }
    return (bench, try #require(error?.kept))
  }

  @Test("the same file under another URL is gone on from, after three chunks were compared, and that is said")
  func same() async throws {
    let (bench, kept) = try await halfDone()
    bench.origin.put(resource(seed: 1), at: "/moved")
    let before = bench.origin.requests().count
    let download = bench.start("/moved")
    let result = try await download.result()
    bench.expectFile(length: length)
    #expect(result.comparedChunks == 3 && result.resumedBytes == kept.written)
    #expect(result.receivedBytes == length - kept.written + 3 * MiB)
    #expect(
      download.takeNotices().contains(
        .continuingFromOtherSource(source: bench.origin.url("/f"), comparedChunks: 3)))
    // The first chunk comes first, although it is there.
    #expect(asked(bench.origin.requests().dropFirst(before), length: length).first?.lowerBound == 0)
    #expect(bench.names == ["f"])
  }

  @Test(
    "another path of the origin with another validator is another version, however equal a few chunks are",
    arguments: [false, true])
  func otherVersion(isForced: Bool) async throws {
    let (bench, kept) = try await halfDone()
    var built = resource(seed: 1)
    built.etag = "\"next-day\""
    bench.origin.put(built, at: "/next")
    let download = bench.start("/next") { $0.forcesResume = isForced }
    if isForced {
      #expect(try await download.result().resumedBytes == kept.written)
    } else {
      let error = await download.failure()
      #expect(error?.code == .occupied && error?.message.contains("another validator") == true)
      #expect(bench.names == ["f.haul", "f.haul-part"])
      #expect(try await bench.fetch().resumedBytes == kept.written)
    }
    bench.expectFile(length: length)
  }

  @Test(
    "after a comparison the manifest names the new source, if that has a validator", arguments: [true, false])
  func renewed(hasValidator: Bool) async throws {
    let (bench, _) = try await halfDone()
    var moved = resource(seed: 1)
    if !hasValidator { (moved.etag, moved.lastModified) = (nil, nil) }
    moved.faults = [Fault.gate("again", at: 1000).on(.rangeStartsFrom(20 * MiB))]
    bench.origin.put(moved, at: "/moved")
    let error = await bench.interrupted("/moved", gate: "again", held: 2) { $0.connections = .fixed(2) }
    #expect(error?.code == .interrupted)
    bench.wait { $0.activeRequests == 0 }
    bench.origin.update("/moved") { $0.faults = [] }
    let result = try await bench.fetch("/moved")
    bench.expectFile(length: length)
    #expect(result.comparedChunks == (hasValidator ? 0 : 3) && result.resumedBytes > 0)
  }

  @Test("a source that loses its ranges while it is compared leaves the other one's partial alone")
  func rangesLost() async throws {
    let (bench, kept) = try await halfDone()
    var mirror = resource(seed: 1)
    (mirror.etag, mirror.lastModified) = (nil, nil)
    mirror.faults = [Fault.missingContentRange.on(.sinceNth(2))]
    bench.origin.put(mirror, at: "/mirror")
    let before = bench.read("f.haul-part", at: 0, count: length)
    let manifest = bench.read("f.haul", at: 0, count: 1 << 16)
    let error = await bench.failure("/mirror") { $0.retries = 2 }
    #expect(error?.code == .occupied || error?.code == .brokenProtocol)
    #expect(bench.read("f.haul-part", at: 0, count: length) == before)
    #expect(bench.read("f.haul", at: 0, count: 1 << 16) == manifest)
    bench.origin.openGate("hold")
    bench.origin.put(resource(seed: 1), at: "/f")
    #expect(try await bench.fetch().resumedBytes == kept.written)
  }

  @Test("two files with one size, one time and so one tag are never mixed")
  func sameTag() async throws {
    let (bench, kept) = try await halfDone()
    bench.origin.put(resource(seed: 2), at: "/other")
    let before = bench.read("f.haul-part", at: 0, count: length)
    let manifest = bench.read("f.haul", at: 0, count: 1 << 16)
    let error = await bench.failure("/other")
    #expect(error?.code == .occupied && error?.kept == kept)
    #expect(bench.read("f.haul-part", at: 0, count: length) == before)
    #expect(bench.read("f.haul", at: 0, count: 1 << 16) == manifest)
    bench.origin.openGate("hold")
    #expect(try await bench.fetch().resumedBytes == kept.written)
    bench.expectFile(length: length)
  }

  @Test("a file that only begins like the one that is there is another one")
  func sameBeginning() async throws {
    let (bench, kept) = try await halfDone()
    var other = resource(seed: 1)
    other.faults = [Fault.wrongBytes(4 * MiB..<length).on(.every)]
    bench.origin.put(other, at: "/other")
    let error = await bench.failure("/other")
    #expect(error?.code == .occupied && error?.kept == kept)
  }

  @Test("another length, or a server without ranges, is no proof", arguments: [true, false])
  func noProof(hasRanges: Bool) async throws {
    let (bench, kept) = try await halfDone()
    var other = hasRanges ? OriginResource.reference(seed: 1, length: length + 1) : resource(seed: 1)
    other.supportsRanges = hasRanges
    bench.origin.put(other, at: "/other")
    let error = await bench.failure("/other")
    #expect(error?.code == .occupied && error?.kept == kept, "\(String(describing: error))")
    #expect(bench.names == ["f.haul", "f.haul-part"])
  }

  @Test("a comparison that is interrupted leaves everything as it was")
  func interrupted() async throws {
    let (bench, kept) = try await halfDone()
    var moved = resource(seed: 1)
    moved.gate = .init("compare", at: 1000)
    bench.origin.put(moved, at: "/moved")
    let download = bench.start("/moved")
    bench.wait { $0.requests.contains { $0.heldAt == "compare" } }
    download.cancel()
    let error = await download.failure()
    #expect(error?.code == .interrupted && error?.kept == kept)
  }
}
