// SPDX-License-Identifier: Apache-2.0

import Haul
import HaulOrigin
import HaulPlatform
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

private let MiB = 1 << 20

/// Bytes to something that is not a regular file.
@Suite(.timeLimit(.minutes(10))) struct StreamTests {
  private let length = 10 * MiB + 3

  @Test("a FIFO gets the bytes in order, whatever the server does", arguments: [true, false])
  func fifo(supportsRanges: Bool) async throws {
    var resource = OriginResource.reference(
      seed: 1, length: length, faults: [Fault.closeAfter(MiB).on(.nth(1))])
    resource.supportsRanges = supportsRanges
    let bench = try Bench(["/f": resource])
    let reader = try FIFOReader(bench.folder.path(of: "pipe"), limit: nil)
    let download = bench.start(to: "pipe", sha256: try sha256(length: length))
    let result = try await download.result()
    #expect(result.digestStatus == .verified && result.length == length)
    #expect(reader.bytes() == ReferenceContent(seed: 1, length: length).bytes(in: 0..<length))
    #expect(download.takeNotices().first == .streaming(to: bench.folder.path(of: "pipe")))
    #expect(bench.names == ["pipe"])
  }

  @Test("a FIFO under a name that comes from the server or the URL is somebody's trap, and gets nothing")
  func namedByServer() async throws {
    var resource = OriginResource.reference(seed: 1, length: length)
    resource.contentDisposition = "attachment; filename=\"pipe\""
    let bench = try Bench(["/": resource, "/pipe": resource])
    #expect(mkfifo(bench.folder.path(of: "pipe"), 0o600) == 0)
    for path in ["/", "/pipe"] {
      for overwrites in [false, true] {
        let error = await bench.failure(path, to: nil) { $0.overwrites = overwrites }
        #expect(error?.code == .occupied, "\(String(describing: error))")
      }
    }
    #expect(bench.names == ["pipe"])
  }

  @Test("a wrong digest of what was streamed is an error")
  func mismatch() async throws {
    let bench = try Bench(["/f": .reference(seed: 1, length: length)])
    let reader = try FIFOReader(bench.folder.path(of: "pipe"), limit: nil)
    let error = await bench.failure(to: "pipe", sha256: try sha256(seed: 2, length: length))
    #expect(error?.code == .digestMismatch && error?.kept == nil)
    #expect(reader.bytes().count == length)
  }

  @Test("a reader that goes away ends the download")
  func readerGone() async throws {
    let bench = try Bench(["/f": .reference(seed: 1, length: length)])
    let reader = try FIFOReader(bench.folder.path(of: "pipe"), limit: 100_000)
    let error = await bench.failure(to: "pipe")
    #expect(error?.code == .disk && error?.kept == nil)
    #expect(reader.bytes().count >= 100_000)
  }

  @Test("an interruption does not wait for a FIFO without a reader, nor for one that does not read")
  func noReader() async throws {
    let bench = try Bench(["/f": .reference(seed: 1, length: length)])
    let path = bench.folder.path(of: "pipe")
    try #require(mkfifo(path, 0o600) == 0)
    let waiting = bench.start(to: "pipe") { $0.stopPatience = 0.1 }
    waiting.cancel()
    let error = await waiting.failure()
    #expect(error?.code == .interrupted)
    #expect(error?.message.contains("disk") == false, "it is nobody's fault but the reader's")
    let patient = bench.start(to: "pipe") { $0.stopPatience = 0.1 }
    #expect(firstNotice(of: patient) == .waitingForReader(of: path))
    patient.cancel()
    _ = await patient.failure()
    let end = open(path, O_RDWR)
    defer { close(end) }
    let download = bench.start(to: "pipe") { $0.stopPatience = 0.1 }
    download.waitUntil { $0.received > 0 }
    download.cancel()
    #expect(await download.failure()?.code == .interrupted)
  }

  private func firstNotice(of download: Download) -> DownloadNotice? {
    while download.outcome == nil {
      if let notice = download.takeNotices().first { return notice }
      var looks = 0
      download.waitUntil { _ in
        looks += 1
        return looks > 1
      }
    }
    return nil
  }

  @Test("a FIFO that nobody reads does not hold up other downloads to the same disk")
  func slowReader() async throws {
    let bench = try Bench(["/f": .reference(seed: 1, length: length)])
    let path = bench.folder.path(of: "pipe")
    try #require(mkfifo(path, 0o600) == 0)
    let end = open(path, O_RDWR)
    defer { close(end) }
    let stuck = bench.start(to: "pipe") { $0.stopPatience = 0.1 }
    stuck.waitUntil { $0.received > 2 * MiB }
    let download = bench.start()
    _ = try await download.result()
    bench.expectFile(length: length)
    stuck.cancel()
    #expect(await stuck.failure()?.code == .interrupted)
  }

  @Test("/dev/null gets everything, over one connection")
  func null() async throws {
    let bench = try Bench(["/f": .reference(seed: 1, length: length)])
    var request = bench.request()
    request.output = .file("/dev/null")
    let result = try await bench.downloader.start(request).result()
    #expect(try result.sha256 == sha256(length: length))
    #expect(result.path == "/dev/null" && bench.origin.journal().peakConnections == 1)
  }
}

/// Makes a FIFO and reads from it on a thread of its own, to its end or until `limit` bytes have come.
private final class FIFOReader: Sendable {
  private let state = Monitor<(bytes: [UInt8], hasEnded: Bool)>(([], false))

  init(_ path: String, limit: Int?) throws {
    try #require(mkfifo(path, 0o600) == 0)
    let state = state
    startThread(name: "fifo-reader") {
      let file = open(path, O_RDONLY)
      var all: [UInt8] = []
      var piece = [UInt8](repeating: 0, count: 65536)
      while true {
        let count = read(file, &piece, piece.count)
        if count <= 0 { break }
        all += piece[..<count]
        if let limit, all.count >= limit { break }
      }
      close(file)
      state.signal { $0 = (all, true) }
    }
  }

  /// Everything, at the end.
  func bytes() -> [UInt8] { state.wait { $0.hasEnded ? $0.bytes : nil } }
}
