// SPDX-License-Identifier: Apache-2.0

import Foundation
import Haul
import HaulDigest
import HaulOrigin
import TestSupport
import Testing

import enum HaulCore.DigestAlgorithm

private let MiB = 1 << 20

/// What a digest from elsewhere, and one of the server's own, make of a download.
@Suite(.timeLimit(.minutes(10))) struct ChecksumTests {
  private let length = 9 * MiB + 5

  private func bytes(_ algorithm: DigestAlgorithm, seed: UInt64 = 1) throws -> [UInt8] {
    let digest = try Digest(algorithm)
    ReferenceContent(seed: seed, length: length).bytes(in: 0..<length).withUnsafeBytes { digest.update($0) }
    return digest.finish()
  }

  private func base64(_ algorithm: DigestAlgorithm, seed: UInt64 = 1) throws -> String {
    Data(try bytes(algorithm, seed: seed)).base64EncodedString()
  }

  /// A file whose every answer has this field.
  private func bench(_ name: String, _ value: String, _ faults: FaultRule...) throws -> Bench {
    try Bench([
      "/f": .reference(seed: 1, length: length, faults: [Fault.header(name, value).on(.every)] + faults)
    ])
  }

  private func request(_ bench: Bench, _ checksum: Checksum, to name: String = "f") -> DownloadRequest {
    var request = bench.request(to: name)
    request.checksum = checksum
    return request
  }

  // MARK: The user's

  @Test(
    "a digest of each algorithm is compared, beside the SHA-256, in one pass",
    arguments: [.sha256, .sha512, .sha1, .md5] as [Checksum.Algorithm], [true, false])
  func given(algorithm: Checksum.Algorithm, computesDigest: Bool) async throws {
    let bench = try Bench(["/f": .reference(seed: 1, length: length)])
    let wanted = Checksum(algorithm, hex: hex(try bytes(algorithm.core)))
    var request = request(bench, wanted)
    request.options.computesDigest = computesDigest
    let download = bench.downloader.start(request)
    let result = try await download.result()
    let isWeak = algorithm == .sha1 || algorithm == .md5
    #expect(
      result.checksum == wanted && result.digestStatus == (isWeak ? .matchesWeak(field: nil) : .verified))
    let hasSHA256 = computesDigest || algorithm == .sha256
    #expect(result.sha256 == (hasSHA256 ? hex(try bytes(.sha256)) : nil))
    #expect(download.takeNotices().contains(.weakChecksum(algorithm)) == isWeak)

    // The same again finds it there; another one does not.
    let again = try await bench.downloader.start(request).result()
    #expect(again.wasComplete && again.digestStatus == result.digestStatus && again.checksum == wanted)
    request.checksum?.hex = hex(try bytes(algorithm.core, seed: 2))
    let other = await bench.downloader.start(request).failure()
    #expect(other?.code == .exists && other?.message.contains(wanted.hex) == true)
  }

  @Test(
    "a wrong one of each algorithm is a mismatch after a second fetch, and the file stays a part",
    arguments: [.sha512, .sha1, .md5] as [Checksum.Algorithm])
  func wrong(algorithm: Checksum.Algorithm) async throws {
    let bench = try Bench(["/f": .reference(seed: 1, length: length)])
    let found = hex(try bytes(algorithm.core))
    let error = await bench.downloader.start(
      request(bench, Checksum(algorithm, hex: hex(try bytes(algorithm.core, seed: 2))))
    ).failure()
    #expect(error?.code == .digestMismatch && error?.message.contains(found) == true)
    #expect(bench.origin.journal().bodyBytesSent() == 2 * length)
    #expect(bench.names == ["f.haul", "f.haul-part"])
  }

  @Test("digits that are not the algorithm's are refused before anything is asked")
  func nonsense() async throws {
    let bench = try Bench(["/f": .reference(seed: 1, length: length)])
    let error = await bench.downloader.start(
      request(bench, Checksum(.sha512, hex: String(repeating: "a", count: 64)))
    )
    .failure()
    #expect(error?.code == .invalidRequest && bench.origin.requests().isEmpty)
  }

  // MARK: The server's

  @Test(
    "what the server declares in each field is compared",
    arguments: [
      ("Repr-Digest", .sha256, "sha-256=:%:"), ("Repr-Digest", .sha512, "sha-512=:%:"),
      ("Digest", .sha256, "SHA-256=%"), ("Digest", .sha512, "sha-512=%"), ("X-Linked-Etag", .sha256, "\"#\""),
      ("x-amz-checksum-sha256", .sha256, "%"),
    ] as [(String, DigestAlgorithm, String)])
  func declared(name: String, algorithm: DigestAlgorithm, form: String) async throws {
    func value(seed: UInt64) throws -> String {
      form.replacingOccurrences(of: "%", with: try base64(algorithm, seed: seed))
        .replacingOccurrences(of: "#", with: hex(try bytes(algorithm, seed: seed)))
    }
    let bench = try bench(name, try value(seed: 1))
    let result = try await bench.fetch { $0.serverDigests = .used }
    #expect(result.digestStatus == .matchesServer(field: name))
    let computed = (hex(try bytes(algorithm)), hex(try bytes(.sha256)))
    #expect(result.checksum?.hex == computed.0 && result.sha256 == computed.1)

    let wrong = try self.bench(name, try value(seed: 2))
    let error = await wrong.failure { $0.serverDigests = .used }
    #expect(error?.code == .digestMismatch && error?.message.contains(name) == true)
    #expect(error?.advice?.contains("--checksum none") == true)
    #expect(wrong.names == ["f.haul", "f.haul-part"])

    // Nobody looks at it when told so, nor by default over http.
    for choice in [DownloadOptions.ServerDigests.ignored, .automatic] {
      let result = try await wrong.fetch(to: "\(choice)") { $0.serverDigests = choice }
      #expect(result.digestStatus == .computed)
    }
  }

  @Test(
    "a weak one matches weakly", arguments: [("x-goog-hash", "crc32c=AAAAAA==,md5=%"), ("Digest", "MD5=%")])
  func weak(name: String, form: String) async throws {
    let bench = try bench(name, form.replacingOccurrences(of: "%", with: try base64(.md5)))
    let result = try await bench.fetch { $0.serverDigests = .used }
    #expect(result.digestStatus == .matchesWeak(field: name) && result.checksum?.algorithm == .md5)
  }

  @Test("a digest of each part under the name of the whole is ignored", arguments: ["Repr-Digest", "Digest"])
  func ofTheParts(name: String) async throws {
    let form = name == "Digest" ? "SHA-256=%" : "sha-256=:%:"
    let parts = [Data(repeating: 1, count: 32), Data(repeating: 2, count: 32)].map {
      Fault.header(name, form.replacingOccurrences(of: "%", with: $0.base64EncodedString()))
    }
    let bench = try Bench([
      "/f": .reference(
        seed: 1, length: length, faults: [parts[0].on(.nth(1)), parts[1].on(.sinceNth(2))])
    ])
    let result = try await bench.fetch {
      $0.serverDigests = .used
      // One after the other, so that no third response says what the second said.
      $0.connections = .fixed(2)
    }
    bench.expectFile(length: length)
    #expect(result.digestStatus == .computed)
  }

  @Test("two digests in one answer that contradict each other say nothing, and the file is not held up")
  func contradiction() async throws {
    let bench = try bench(
      "Repr-Digest", "sha-256=:\(try base64(.sha256, seed: 2)):",
      Fault.header("X-Linked-Etag", hex(try bytes(.sha256, seed: 3))).on(.every))
    let result = try await bench.fetch { $0.serverDigests = .used }
    bench.expectFile(length: length)
    #expect(result.digestStatus == .computed && result.receivedBytes == length)
  }

  @Test("X-Linked-Etag of the redirect counts for where it leads", arguments: [1, 2])
  func hop(seed: UInt64) async throws {
    var hub = OriginResource.redirect(to: "/store")
    hub.extraHeaders = [.init("X-Linked-Etag", "\"\(hex(try bytes(.sha256, seed: seed)))\"")]
    let bench = try Bench(["/f": hub, "/store": .reference(seed: 1, length: length)])
    let download = bench.start { $0.serverDigests = .used }
    if seed == 1 {
      #expect(try await download.result().digestStatus == .matchesServer(field: "X-Linked-Etag"))
    } else {
      #expect(await download.failure()?.code == .digestMismatch)
    }
  }

  @Test("the user's digest decides alone")
  func userDecides() async throws {
    let bench = try bench("Repr-Digest", "sha-256=:\(try base64(.sha256, seed: 2)):")
    let result = try await bench.fetch(sha256: hex(try bytes(.sha256))) { $0.serverDigests = .used }
    #expect(result.digestStatus == .verified)
  }

  @Test("wrong bytes under a right digest of the server's are found, and healed by the second fetch")
  func lyingOnce() async throws {
    let bench = try bench(
      "Repr-Digest", "sha-256=:\(try base64(.sha256)):", Fault.wrongBytes(5000..<5001).on(.nth(1)))
    let download = bench.start { $0.serverDigests = .used }
    #expect(try await download.result().digestStatus == .matchesServer(field: "Repr-Digest"))
    bench.expectFile(length: length)
  }

  @Test(
    "without a validator, the digest that the server declares again is enough to go on, or --force-resume",
    arguments: [(true, false), (false, false), (false, true)])
  func tierC(declaresAgain: Bool, isForced: Bool) async throws {
    var resource = OriginResource.reference(seed: 1, length: length)
    (resource.etag, resource.lastModified) = (nil, nil)
    resource.extraHeaders = [.init("Repr-Digest", "sha-256=:\(try base64(.sha256)):")]
    resource.gate = .init("hold", at: 2_000_000)
    let bench = try Bench(["/f": resource])
    let error = await bench.interrupted(held: 2) {
      $0.connections = .fixed(2)
      $0.serverDigests = .used
    }
    let kept = try #require(error?.kept)
    #expect(kept.canResume)
    bench.wait { $0.activeRequests == 0 }
    bench.origin.openGate("hold")
    if !declaresAgain { bench.origin.update("/f") { $0.extraHeaders = [] } }
    let result = try await bench.fetch {
      $0.serverDigests = .used
      $0.forcesResume = isForced
    }
    bench.expectFile(length: length)
    #expect(result.resumedBytes == (declaresAgain || isForced ? kept.written : 0))
    #expect(result.digestStatus == (declaresAgain ? .matchesServer(field: "Repr-Digest") : .computed))
  }

  @Test("without a validator, bytes that are all there are compared with what was declared to an earlier run")
  func tierCComplete() async throws {
    for seed in [1, 2] as [UInt64] {
      var resource = OriginResource.reference(seed: 1, length: length)
      (resource.etag, resource.lastModified) = (nil, nil)
      resource.extraHeaders = [.init("X-Linked-Etag", hex(try bytes(.sha256, seed: seed)))]
      resource.gate = .init("hold", at: 1_000_000)
      let bench = try Bench(["/f": resource])
      let download = bench.start { $0.serverDigests = .used }
      bench.wait { $0.requests.contains { $0.heldAt == "hold" } }
      if seed == 1 {
        // In the way of the final name, so that a complete part is left.
        try bench.write([1], to: "f")
        bench.origin.openGate("hold")
        #expect(await download.failure()?.code == .exists)
        let asked = bench.origin.requests().count
        let result = try await bench.fetch {
          $0.serverDigests = .used
          $0.overwrites = true
        }
        #expect(result.digestStatus == .matchesServer(field: "as declared to an earlier run"))
        #expect(bench.origin.requests().count == asked && result.resumedBytes == length)
      } else {
        bench.origin.openGate("hold")
        #expect(await download.failure()?.code == .digestMismatch)
      }
    }
  }

  @Test(
    "without a validator, a digest that was given to the earlier run is not taken for the server's, and decides",
    arguments: [1, 2] as [UInt64])
  func givenBefore(seed: UInt64) async throws {
    var resource = OriginResource.reference(seed: 1, length: length)
    (resource.etag, resource.lastModified) = (nil, nil)
    resource.gate = .init("hold", at: 2_000_000)
    let bench = try Bench(["/f": resource])
    let given = try sha256(seed: seed, length: length)
    let error = await bench.interrupted(sha256: given, held: 2) { $0.connections = .fixed(2) }
    let kept = try #require(error?.kept)
    bench.wait { $0.activeRequests == 0 }
    bench.origin.openGate("hold")
    let download = bench.start { $0.serverDigests = .used }
    guard seed == 1 else {
      let failure = await download.failure()
      #expect(failure?.code == .digestMismatch && failure?.message.contains(given) == true)
      #expect(failure?.advice?.contains("given to an earlier run") == true)
      return
    }
    let result = try await download.result()
    bench.expectFile(length: length)
    #expect(result.resumedBytes == kept.written && result.digestStatus == .verified)
  }

  @Test("a SHA-512 goes on from another URL; an MD5 is no proof that it is the same file")
  func mirror() async throws {
    for algorithm in [Checksum.Algorithm.sha512, .md5] {
      var resource = OriginResource.reference(seed: 1, length: length)
      resource.gate = .init("hold", at: 1_000_000)
      let bench = try Bench(["/f": resource, "/mirror": .reference(seed: 1, length: length)])
      var request = request(bench, Checksum(algorithm, hex: hex(try bytes(algorithm.core))))
      request.options.connections = .fixed(1)
      let download = bench.downloader.start(request)
      bench.wait { $0.requests.contains { $0.heldAt == "hold" } }
      download.waitUntil { $0.written > 0 || $0.received >= 1_000_000 && $0.phase == .fetching }
      download.cancel()
      #expect(await download.failure()?.code == .interrupted)
      request.url = bench.origin.url("/mirror")
      let again = bench.downloader.start(request)
      if algorithm == .md5 {
        #expect(await again.failure()?.code == .occupied)
      } else {
        let result = try await again.result()
        #expect(result.digestStatus == .verified && result.resumedBytes > 0)
        bench.expectFile(length: length)
      }
    }
  }

  // MARK: A digest that was mistyped

  @Test("the corrected digest finishes the complete part without a request", arguments: [true, false])
  func corrected(hasRefetched: Bool) async throws {
    let bench = try Bench(["/f": .reference(seed: 1, length: length)])
    if hasRefetched {
      #expect(await bench.failure(sha256: try sha256(seed: 2, length: length))?.code == .digestMismatch)
    } else {
      // Interrupted in the second fetch: the bytes of the first are still there.
      bench.origin.update("/f") { $0.faults = [Fault.gate("first", at: 1).on(.rangeContains(length - 1))] }
      let download = bench.start(sha256: try sha256(seed: 2, length: length)) { $0.connections = .fixed(1) }
      bench.wait { $0.requests.contains { $0.heldAt == "first" } }
      bench.origin.update("/f") { $0.faults = [Fault.gate("hold", at: 100).on(.rangeContains(0))] }
      bench.origin.openGate("first")
      bench.wait { $0.requests.contains { $0.heldAt == "hold" } }
      download.cancel()
      #expect(await download.failure()?.code == .interrupted)
    }
    let asked = bench.origin.requests().count
    let right = try sha256(length: length)
    // The same wrong one, or none, still needs to be told to start over.
    #expect(await bench.failure()?.code == .digestMismatch)
    #expect(await bench.failure(sha256: try sha256(seed: 2, length: length))?.code == .digestMismatch)
    // Another wrong one is looked for, and the part stays.
    #expect(await bench.failure(sha256: try sha256(seed: 3, length: length))?.code == .digestMismatch)
    #expect(bench.names == ["f.haul", "f.haul-part"])
    let result = try await bench.fetch(sha256: right)
    #expect(result.digestStatus == .verified && result.resumedBytes == length && result.receivedBytes == 0)
    #expect(bench.origin.requests().count == asked)
    bench.expectFile(length: length)
    #expect(bench.names == ["f"])
  }

  @Test(
    "an interrupted download of one source goes on with the corrected digest, which is then the stored one")
  func correctedHalfway() async throws {
    var resource = OriginResource.reference(seed: 1, length: length)
    resource.gate = .init("hold", at: 2_000_000)
    let bench = try Bench(["/f": resource])
    let error = await bench.interrupted(sha256: try sha256(seed: 2, length: length), held: 2) {
      $0.connections = .fixed(2)
    }
    let kept = try #require(error?.kept)
    bench.wait { $0.activeRequests == 0 }
    let right = try sha256(length: length)
    bench.origin.update("/f") { $0.gate = .init("again", at: 100_000) }
    let again = await bench.interrupted(sha256: right, gate: "again", held: 2) { $0.connections = .fixed(2) }
    #expect(again?.code == .interrupted)
    bench.wait { $0.activeRequests == 0 }
    // Under another URL only the stored digest tells that it is the same file.
    bench.origin.put(.reference(seed: 1, length: length), at: "/mirror")
    let result = try await bench.fetch("/mirror", sha256: right)
    #expect(result.digestStatus == .verified && result.resumedBytes > kept.written)
    bench.expectFile(length: length)
  }
}
