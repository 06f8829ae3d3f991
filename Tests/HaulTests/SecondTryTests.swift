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
}
