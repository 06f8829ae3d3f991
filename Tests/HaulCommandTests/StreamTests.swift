// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Output that is no regular file: bytes in order, over one connection, without a manifest.
@Suite(.timeLimit(.minutes(10)))
struct StreamTests {
  private static let length = 9_000_000
  private let content = ReferenceContent(seed: 6, length: length)
  private let resource = OriginResource.reference(seed: 6, length: length)

  @Test("/dev/null gets it, and the digest is shown")
  func null() throws {
    let arena = try Arena(["/f": resource])
    let digest = try #require(arena.run("/f").output.split(separator: " ").dropLast().last.map(String.init))
    let ended = try HaulProcess.run([arena.origin.url("/f"), "-o", "/dev/null", "--sha256", digest])
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(ended.output.hasPrefix("/dev/null: 9.0 MB in ") && ended.output.hasSuffix("\(digest) verified\n"))
    #expect(ended.errors.contains("writing to /dev/null in order, over one connection"))
    #expect(!Files.exists("/dev/null.haul") && !Files.exists("/dev/null.haul-part"))
  }

  @Test("standard output by its path gets the bytes and nothing else")
  func standardOutput() throws {
    let arena = try Arena(["/f": OriginResource(.bytes(Array("exactly this".utf8)), etag: "\"a\"")])
    let ended = try HaulProcess.run([arena.origin.url("/f"), "-o", "/dev/stdout"])
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(ended.output == "exactly this")
    #expect(ended.errors.contains("sha256 "))
    #expect(try HaulProcess.run([arena.origin.url("/f"), "-o", "-"], in: arena.folder.path).end == .exit(64))
  }

  @Test("a FIFO gets every byte in order")
  func fifo() throws {
    let arena = try Arena(["/f": resource])
    let path = arena.folder.path(of: "pipe")
    #expect(mkfifo(path, 0o600) == 0)
    let process = try HaulProcess.start([arena.origin.url("/f"), "-o", path, "-c", "8"])
    var offset = 0
    var isSame = true
    // A pipe gives little at a time; a short read is no end here.
    let reader = try ChildProcess.start("/bin/cat", [path])
    let read = reader.wait()
    for start in stride(from: 0, to: read.stdout.count, by: 1 << 20) {
      let piece = read.stdout[start..<min(start + 1 << 20, read.stdout.count)]
      isSame = isSame && piece.elementsEqual(content.bytes(in: start..<start + piece.count))
      offset += piece.count
    }
    let ended = process.wait()
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(offset == Self.length && isSame)
    #expect(arena.names == ["pipe"])
    #expect(arena.origin.journal().peakConnections == 1)
  }

  @Test("a wrong digest of a stream is told, although its bytes are gone")
  func wrongDigest() throws {
    let arena = try Arena(["/f": resource])
    let ended = try HaulProcess.run(
      [arena.origin.url("/f"), "-o", "/dev/null", "--sha256", String(repeating: "0", count: 64)])
    #expect(ended.end == .exit(13) && ended.stdout.isEmpty)
    #expect(ended.errors.contains("cannot be taken back"))
  }

  @Test("a reader that goes away is an error and not a signal")
  func readerGone() throws {
    let arena = try Arena(["/f": resource.gated(at: 100_000)])
    let path = arena.folder.path(of: "pipe")
    #expect(mkfifo(path, 0o600) == 0)
    let process = try HaulProcess.start([arena.origin.url("/f"), "-o", path])
    // Opening waits for the writer; then it is closed at once.
    close(open(path, O_RDONLY))
    arena.origin.openGate("gate")
    let ended = process.wait()
    #expect(ended.end == .exit(14), "\(ended.end) \(ended.errors)")
    #expect(ended.errors.contains("has closed it"))
  }

  @Test("Ctrl-C while nobody reads a FIFO ends it")
  func nobodyReads() throws {
    let arena = try Arena(["/f": resource])
    let path = arena.folder.path(of: "pipe")
    #expect(mkfifo(path, 0o600) == 0)
    let process = try HaulProcess.start([arena.origin.url("/f"), "-o", path], output: .terminal(columns: 80))
    #expect(process.waitForOutput { text, _ in text.contains("starting") })
    process.signal(SIGINT)
    #expect(process.wait().end == .exit(130))
  }
}
