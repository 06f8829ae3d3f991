// SPDX-License-Identifier: Apache-2.0

import Haul
import HaulOrigin
import TestSupport
import Testing

private let MiB = 1 << 20

/// A wrong digest has everything fetched once more, whatever the server tells, and never ends with a file.
@Suite(.timeLimit(.minutes(10))) struct SecondTryTests {
  @Test(
    "a wrong digest is an error after the second try, also without a length",
    arguments: [OriginResource.Framing.contentLength, .chunked], [0, 1, 3 * MiB + 7])
  func twice(framing: OriginResource.Framing, length: Int) async throws {
    var resource = OriginResource.reference(seed: 1, length: length)
    resource.framing = framing
    resource.supportsRanges = false
    let bench = try Bench(["/f": resource])
    let error = await bench.failure(sha256: try sha256(seed: 2, length: length + 1))
    #expect(error?.code == .digestMismatch)
    #expect(!bench.names.contains("f"))
    // Nothing is asked for again where nothing can come.
    #expect(bench.origin.requests().count == (length == 0 && framing == .contentLength ? 1 : 2))
  }

  @Test("a wrong digest of an empty file never gives it its name")
  func empty() async throws {
    let bench = try Bench(["/f": .reference(seed: 1, length: 0)])
    #expect(await bench.failure(sha256: try sha256(seed: 2, length: 1))?.code == .digestMismatch)
    #expect(!bench.names.contains("f"))
  }

  @Test("the second try compares with the source that is asked now, not with the one that was begun")
  func otherSource() async throws {
    let (length, wanted) = (12 * MiB, try sha256(seed: 2, length: 12 * MiB))
    var resource = OriginResource.reference(seed: 1, length: length)
    resource.gate = .init("hold", at: MiB)
    let bench = try Bench(["/f": resource])
    let kept = await bench.interrupted(sha256: wanted, held: 2) { $0.connections = .fixed(2) }?.kept
    #expect(kept?.canResume == true)
    bench.wait { $0.activeRequests == 0 }
    var mirror = OriginResource.reference(seed: 1, length: length)
    mirror.etag = "\"of the mirror\""
    bench.origin.put(mirror, at: "/mirror")
    #expect(await bench.failure("/mirror", sha256: wanted)?.code == .digestMismatch)
    #expect(!bench.names.contains("f"))
  }

  @Test("a refetch for the user's digest may meet a mirror that calls the file otherwise")
  func otherMirror() async throws {
    var (bad, good) = (
      OriginResource.reference(seed: 1, length: 3_000_000),
      OriginResource.reference(seed: 1, length: 3_000_000)
    )
    (bad.etag, good.etag) = ("\"bad\"", "\"good\"")
    bad.faults = [Fault.wrongBytes(5000..<5001).on(.every)]
    let bench = try Bench(["/bad": bad, "/good": good, "/link": .redirect(to: "/bad")])
    bench.origin.update("/link") { $0.faults = [Fault.redirect(to: "/good").on(.sinceNth(2))] }
    let result = try await bench.fetch("/link", sha256: sha256(length: 3_000_000))
    #expect(result.digestStatus == .verified)
    bench.expectFile(length: 3_000_000)
  }

  @Test("a refetch for the server's own digest goes to the same place, by a new link if that has run out")
  func samePlace() async throws {
    for status in [200, 403] {
      let digest = try sha256(length: 3_000_000)
      var first = OriginResource.reference(seed: 1, length: 3_000_000)
      first.extraHeaders = [.init("X-Linked-Etag", digest)]
      first.faults = [Fault.wrongBytes(5000..<5001).on(.nth(1))]
      if status == 403 {
        first.faults.append(Fault.status(403).on(.all([.sinceNth(2), .targetContains("Signature=1")])))
      }
      let bench = try Bench(["/f": first, "/other": .reference(seed: 2, length: 3_000_000)])
      bench.origin.put(.redirect(to: "/f?Signature=1"), at: "/link")
      let next = status == 403 ? "/f?Signature=2" : "/other"
      bench.origin.update("/link") { $0.faults = [Fault.redirect(to: next).on(.sinceNth(2))] }
      let result = try await bench.fetch("/link") { $0.serverDigests = .used }
      #expect(result.digestStatus == .matchesServer(field: "X-Linked-Etag"))
      bench.expectFile(length: 3_000_000)
      #expect(bench.origin.requests().count { $0.target == "/link" } == (status == 403 ? 2 : 1))
    }
  }
}
