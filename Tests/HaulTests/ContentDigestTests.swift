// SPDX-License-Identifier: Apache-2.0

import Foundation
import Haul
import HaulDigest
import HaulOrigin
import TestSupport
import Testing

private let MiB = 1 << 20

/// Answers with a digest of their own body (RFC 9530 Content-Digest).
@Suite(.timeLimit(.minutes(10))) struct ContentDigestTests {
  private let length = 24 * MiB + 5

  /// The field as a good server sends it with these bytes.
  private var field: Fault {
    let content = ReferenceContent(seed: 1, length: length)
    return .headerOfBody("Content-Digest") { range in
      "sha-256=:\(Data(Digest.sha256(of: content.bytes(in: range))).base64EncodedString()):"
    }
  }

  private func bench(_ faults: FaultRule...) throws -> Bench {
    try Bench(["/f": .reference(seed: 1, length: length, faults: faults + [field.on(.every)])])
  }

  private func wrongAnswers(_ download: Download) -> [Int] {
    download.takeNotices().compactMap { if case .wrongAnswer(let bytes) = $0 { bytes } else { nil } }
  }

  @Test("right ones change nothing", arguments: [1, 4])
  func right(connections: Int) async throws {
    let bench = try bench()
    let download = bench.start {
      $0.serverDigests = .used
      $0.connections = .fixed(connections)
    }
    let result = try await download.result()
    bench.expectFile(length: length)
    #expect(result.receivedBytes == length && result.digestStatus == .computed)
    #expect(wrongAnswers(download).isEmpty)
  }

  @Test("a wrong answer is fetched again, and only that", arguments: [0, 10 * MiB, 24 * MiB + 4], [1, 4])
  func wrongOnce(place: Int, connections: Int) async throws {
    let bench = try bench(Fault.wrongBytes(place..<place + 1).on(.rangeContains(place), times: 1))
    let wanted = try sha256(length: length)
    let download = bench.start(sha256: wanted) {
      $0.serverDigests = .used
      $0.connections = .fixed(connections)
    }
    let result = try await download.result()
    bench.expectFile(length: length)
    #expect(result.digestStatus == .verified)
    let wrong = wrongAnswers(download)
    #expect(wrong.count == 1)
    // Whole chunks are struck out, so that at most two are fetched beside the answer's own bytes.
    #expect(result.receivedBytes <= length + wrong.reduce(0, +) + 2 * MiB)
    #expect(bench.names == ["f"])
  }

  @Test("without a digest of the file a wrong answer is found as well")
  func noDigest() async throws {
    let bench = try bench(Fault.wrongBytes(5 * MiB..<5 * MiB + 1).on(.rangeContains(5 * MiB), times: 1))
    let download = bench.start {
      $0.serverDigests = .used
      $0.computesDigest = false
    }
    _ = try await download.result()
    bench.expectFile(length: length)
    #expect(wrongAnswers(download).count == 1)
  }

  @Test("three wrong answers are an error, and nothing of them is kept as right", arguments: [true, false])
  func always(isSynced: Bool) async throws {
    let bench = try bench(Fault.wrongBytes(5 * MiB..<5 * MiB + 1).on(.rangeContains(5 * MiB)))
    let error = await bench.failure {
      $0.serverDigests = .used
      $0.isDurable = isSynced
    }
    #expect(error?.code == .brokenProtocol && error?.message.contains("Content-Digest") == true)
    #expect(error?.advice?.contains("--checksum none") == true)
    #expect(!bench.names.contains("f"))
    #expect(
      bench.origin.journal().requests.count { $0.range?.resolved(length: length)?.contains(5 * MiB) == true }
        == 3)
    bench.origin.put(.reference(seed: 1, length: length), at: "/f")
    try await bench.fetch()
    bench.expectFile(length: length)
  }

  @Test("wrong answers here and there in a long file are fetched again, however many")
  func manyPlaces() async throws {
    let faults = (0..<6).map { number in
      Fault.wrongBytes(number * 4 * MiB..<number * 4 * MiB + 1).on(.rangeContains(number * 4 * MiB), times: 1)
    }
    let bench = try Bench([
      "/f": .reference(seed: 1, length: length, faults: faults + [field.on(.every)])
    ])
    let download = bench.start { $0.connections = .fixed(2) }
    _ = try await download.result()
    bench.expectFile(length: length)
    #expect(wrongAnswers(download).count > 3)
  }

  @Test("nobody looks at it when told so")
  func ignored() async throws {
    let bench = try Bench([
      "/f": .reference(
        seed: 1, length: length,
        faults: [
          Fault.header("Content-Digest", "sha-256=:\(Data(count: 32).base64EncodedString()):").on(.every)
        ])
    ])
    try await bench.fetch { $0.serverDigests = .ignored }
    bench.expectFile(length: length)
  }

  @Test("an answer that is cut short is not judged")
  func cut() async throws {
    let bench = try bench(Fault.closeAfter(MiB + 1).on(.nth(1)), Fault.shortRange(MiB).on(.nth(2)))
    let download = bench.start {
      $0.serverDigests = .used
      $0.connections = .fixed(1)
    }
    _ = try await download.result()
    bench.expectFile(length: length)
    #expect(wrongAnswers(download).isEmpty)
  }

  @Test("of an answer with the whole file it is the server's digest of the file")
  func whole() async throws {
    let small = ReferenceContent(seed: 1, length: 1000)
    let text = Data(Digest.sha256(of: small.bytes(in: 0..<1000))).base64EncodedString()
    let bench = try Bench([
      "/f": .reference(
        seed: 1, length: 1000, faults: [Fault.header("Content-Digest", "sha-256=:\(text):").on(.every)])
    ])
    let result = try await bench.fetch { $0.serverDigests = .used }
    #expect(result.digestStatus == .matchesServer(field: "Content-Digest"))
    bench.origin.update("/f") { $0.supportsRanges = false }
    #expect(
      try await bench.fetch(to: "g") { $0.serverDigests = .used }.digestStatus
        == .matchesServer(field: "Content-Digest"))
  }

  @Test(
    "of an answer in the clear it tells whether the body came as it was sent, and nothing about whose it is",
    arguments: [true, false])
  func wholeInTheClear(hasRanges: Bool) async throws {
    let small = ReferenceContent(seed: 1, length: 1000)
    let text = Data(Digest.sha256(of: small.bytes(in: 0..<1000))).base64EncodedString()
    let bench = try Bench(["/f": .reference(seed: 1, length: 1000)])
    bench.origin.update("/f") {
      $0.supportsRanges = hasRanges
      $0.faults = [
        Fault.header("Content-Digest", "sha-256=:\(text):").on(.every),
        Fault.wrongBytes(500..<501).on(.nth(1)),
      ]
    }
    let result = try await bench.fetch()
    bench.expectFile(length: 1000)
    #expect(result.digestStatus == .computed && bench.origin.requests().count == 2)
    bench.origin.update("/f") { $0.faults[1] = Fault.wrongBytes(500..<501).on(.every) }
    #expect(await bench.failure(to: "g")?.code == .digestMismatch)
    try await bench.fetch(to: "h") { $0.serverDigests = .ignored }
  }

  @Test("what was streamed cannot be taken back")
  func stream() async throws {
    let bench = try bench(Fault.wrongBytes(0..<1).on(.rangeContains(0)))
    var request = bench.request(to: nil) { $0.serverDigests = .used }
    request.output = .file("/dev/null")
    let streamed = await bench.downloader.start(request).failure()
    #expect(streamed?.code == .brokenProtocol && streamed?.message.contains("taken back") == true)
  }
}
