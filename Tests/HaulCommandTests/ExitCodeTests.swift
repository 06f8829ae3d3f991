// SPDX-License-Identifier: Apache-2.0

import Haul
import HaulOrigin
import TestSupport
import Testing

@testable import HaulCommand

/// Every documented exit code but those of signals (see InterruptTests), and what is said with it.
@Suite(.timeLimit(.minutes(10)))
struct ExitCodeTests {
  private static let length = 3_000_000
  private let resource = OriginResource.reference(seed: 1, length: length)

  /// What holds for every failure: nothing on standard output, lines that say who speaks, the message and advice.
  private func expect(
    _ ended: ChildProcess.Ended, code: Int32, says: [String], location: SourceLocation = #_sourceLocation
  ) {
    #expect(ended.end == .exit(code), "\(ended.errors)", sourceLocation: location)
    #expect(ended.stdout.isEmpty, sourceLocation: location)
    #expect(ended.stderr.isHarmlessText, sourceLocation: location)
    for text in says {
      #expect(ended.errors.contains(text), "\(ended.errors)", sourceLocation: location)
    }
    #expect(ended.errors.hasPrefix("haul: "), "\(ended.errors)", sourceLocation: location)
    if code != 64 {
      for line in ended.errors.split(separator: "\n") {
        #expect(line.hasPrefix("haul: "), sourceLocation: location)
      }
    }
  }

  @Test("0: the summary, and nothing else, is on standard output")
  func done() throws {
    let arena = try Arena(["/file.bin": resource])
    let ended = try arena.run("/file.bin")
    #expect(ended.end == .exit(0) && ended.errors.isEmpty, "\(ended.errors)")
    let lines = ended.output.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines.first?.hasPrefix("\(arena.folder.path)/file.bin: 3.0 MB in ") == true)
    #expect(lines.last?.hasPrefix("sha256 ") == true && lines.last?.hasSuffix(" computed") == true)
    #expect(arena.names == ["file.bin"])
    #expect(try arena.holds("file.bin", ReferenceContent(seed: 1, length: Self.length)))
  }

  @Test("0: a digest that matches is called verified, and the same command again finds it complete")
  func verified() throws {
    let arena = try Arena(["/f": resource])
    let digest = try #require(arena.run("/f").output.split(separator: " ").dropLast().last.map(String.init))
    let again = try arena.run("/f", "--sha256", digest)
    #expect(again.end == .exit(0) && again.output.contains("already complete, verified"))
    #expect(arena.origin.requests().count == 1)
    let fresh = try Arena(["/f": resource])
    #expect(try fresh.run("/f", "--sha256", digest).output.hasSuffix("sha256 \(digest) verified\n"))
  }

  @Test("-q says nothing, and leaves errors")
  func quiet() throws {
    let arena = try Arena(["/f": resource])
    let ended = try arena.run("/f", "-q")
    #expect(ended.end == .exit(0) && ended.stdout.isEmpty && ended.stderr.isEmpty)
    expect(try arena.run("/f", "-q"), code: 16, says: ["exists"])
  }

  @Test("--no-digest shows no digest")
  func noDigest() throws {
    let arena = try Arena(["/f": resource])
    let ended = try arena.run("/f", "--no-digest")
    #expect(ended.end == .exit(0) && !ended.output.contains("sha256"))
  }

  // What leads to 1 (no descriptors, no memory) stops the concurrency runtime first, in its own way; so only as a value.
  @Test("each class of error has its own code, and 1 is for the rest")
  func table() {
    let codes: [(DownloadError.Code, Int32)] = [
      (.other, 1), (.network, 10), (.refused, 11), (.changed, 12), (.digestMismatch, 13), (.disk, 14),
      (.busy, 15),
      (.exists, 16), (.occupied, 16), (.brokenProtocol, 17), (.invalidRequest, 64), (.interrupted, 130),
    ]
    for (code, status) in codes { #expect(ExitStatus.of(code) == status) }
  }

  @Test("10: nobody listens")
  func network() throws {
    let arena = try Arena()
    let url = arena.origin.url("/file.bin")
    arena.origin.stop()
    let ended = try HaulProcess.run([url, "-d", arena.folder.path, "--retries", "0"])
    expect(ended, code: 10, says: [url, "check the connection"])
    #expect(arena.names.isEmpty)
  }

  @Test("10: a server that cuts every answer, and what is kept of it")
  func cut() throws {
    let arena = try Arena(["/f": resource])
    arena.origin.update("/f") {
      $0.faults = [Fault.closeAfter(1_500_000).on(.nth(1)), Fault.resetAfter(0).on(.sinceNth(2))]
    }
    let ended = try arena.run("/f", "--retries", "1", "-c", "1")
    expect(
      ended, code: 10, says: ["/f", "kept 1.5 MB of 3.0 MB in \(arena.folder.path)/f.haul-part", "again"])
    #expect(arena.names == ["f.haul", "f.haul-part"])
  }

  @Test(
    "11: the server says no", arguments: [(404, "check the URL"), (403, "expired"), (401, "Authorization")])
  func refused(status: Int, advice: String) throws {
    let arena = try Arena(["/f": resource])
    arena.origin.update("/f") { $0.faults = [Fault.status(status).on(.every)] }
    let ended = try arena.run("/f")
    expect(ended, code: 11, says: [arena.origin.url("/f"), "\(status)", advice])
    #expect(arena.names.isEmpty)
  }

  @Test("12: the file has changed on the server since it was begun; what was kept stays")
  func changed() throws {
    let arena = try Arena(["/f": resource])
    arena.origin.update("/f") {
      $0.faults = [Fault.closeAfter(1_500_000).on(.nth(1)), Fault.resetAfter(0).on(.sinceNth(2))]
    }
    _ = try arena.run("/f", "--retries", "0", "-c", "1")
    arena.origin.put(OriginResource.reference(seed: 2, length: Self.length), at: "/f")
    let ended = try arena.run("/f", "--no-restart")
    expect(ended, code: 12, says: ["/f", "the bytes of the earlier version are kept", "--no-restart"])
    #expect(arena.names == ["f.haul", "f.haul-part"])
    #expect(try arena.run("/f").end == .exit(0))
    #expect(try arena.holds("f", ReferenceContent(seed: 2, length: Self.length)))
  }

  @Test("13: a digest that does not match is never published; a second try needs --overwrite")
  func mismatch() throws {
    let arena = try Arena(["/f": resource])
    let wrong = String(repeating: "0", count: 64)
    expect(
      try arena.run("/f", "--sha256", wrong), code: 13, says: [arena.origin.url("/f"), wrong, "--overwrite"])
    #expect(!arena.names.contains("f"))
    let before = arena.origin.requests().count
    expect(try arena.run("/f", "--sha256", wrong), code: 13, says: ["--overwrite"])
    #expect(arena.origin.requests().count == before)
    // To start over is not to take the digest back.
    expect(
      try arena.run("/f", "--overwrite"), code: 13,
      says: [wrong, "given to an earlier run", "--overwrite --checksum none"])
    #expect(!arena.names.contains("f"))
    #expect(try arena.run("/f", "--overwrite", "--checksum", "none").end == .exit(0))
  }

  @Test("14: a folder that is not there")
  func noFolder() throws {
    let arena = try Arena(["/f": resource])
    let folder = arena.folder.path(of: "missing")
    let ended = try HaulProcess.run([arena.origin.url("/f"), "-d", folder])
    expect(ended, code: 14, says: [folder, "make the folder first", "mkdir -p \(folder)\n"])
    let spaced = try HaulProcess.run([arena.origin.url("/f"), "-d", "it's not here"])
    expect(spaced, code: 14, says: ["mkdir -p 'it'\\''s not here'\n"])
    try Files.write("x", to: arena.folder.path(of: "file"))
    for place in [["-d", arena.folder.path(of: "file")], ["-o", arena.folder.path(of: "file/x")]] {
      let ended = try HaulProcess.run([arena.origin.url("/f")] + place)
      expect(ended, code: 14, says: ["\(arena.folder.path)/file: it is no folder", "-d"])
    }
    #expect(arena.names == ["file"] && arena.origin.requests().isEmpty)
  }

  @Test("14: a file that does not fit is told before it is fetched")
  func noSpace() throws {
    let arena = try Arena(["/f": .reference(seed: 1, length: 1 << 52)])
    let ended = try arena.run("/f")
    expect(ended, code: 14, says: ["are needed", "make room"])
    #expect(arena.origin.journal().bodyBytesSent() < 64 << 20)
    #expect(arena.names.isEmpty)
  }

  @Test("16: an existing file is not touched unless --overwrite says so")
  func exists() throws {
    let arena = try Arena(["/f": resource])
    try Files.write("mine", to: arena.folder.path(of: "f"))
    expect(try arena.run("/f"), code: 16, says: ["\(arena.folder.path)/f", "exists", "--overwrite"])
    #expect(try Files.text(of: arena.folder.path(of: "f")) == "mine")
    #expect(arena.names == ["f"] && arena.origin.requests().isEmpty)
    #expect(try arena.run("/f", "--overwrite").end == .exit(0))
    #expect(try arena.holds("f", ReferenceContent(seed: 1, length: Self.length)))
  }

  @Test("16: several finished files, each named, with what to do")
  func existing() throws {
    let arena = try Arena(["/a": resource, "/b": resource])
    let arguments = [arena.origin.url("/a"), arena.origin.url("/b"), "-d", arena.folder.path]
    #expect(try HaulProcess.run(arguments).end == .exit(0))
    let ended = try HaulProcess.run(arguments)
    let places = ["/a: the file exists", "/b: the file exists"].map { arena.folder.path + $0 }
    expect(ended, code: 16, says: places + ["nothing was touched", "folder with -d", "--overwrite"])
    #expect(arena.origin.requests().count == 2)
  }

  @Test("16: a folder under the name")
  func isFolder() throws {
    let arena = try Arena(["/f": resource])
    let ended = try HaulProcess.run([arena.origin.url("/f"), "-o", arena.folder.path])
    expect(ended, code: 16, says: [arena.folder.path, "folder", "-d"])
  }

  @Test("16: a partial of another source is occupied and stays as it is")
  func occupied() throws {
    let arena = try Arena(["/a/f": resource, "/b/f": .reference(seed: 2, length: Self.length)])
    arena.origin.update("/a/f") {
      $0.faults = [Fault.closeAfter(1_500_000).on(.nth(1)), Fault.resetAfter(0).on(.sinceNth(2))]
    }
    _ = try arena.run("/a/f", "--retries", "0", "-c", "1")
    let part = try Files.bytes(of: arena.folder.path(of: "f.haul-part"))
    expect(try arena.run("/b/f"), code: 16, says: [arena.origin.url("/a/f"), "-o", "--overwrite"])
    #expect(try Files.bytes(of: arena.folder.path(of: "f.haul-part")) == part)
  }

  @Test("17: answers that HTTP does not allow")
  func brokenProtocol() throws {
    let arena = try Arena(["/f": resource])
    arena.origin.update("/f") { $0.faults = [Fault.contentEncodingGzip.on(.every)] }
    expect(try arena.run("/f", "--retries", "1"), code: 17, says: [arena.origin.url("/f"), "gzip"])
    arena.origin.update("/f") { $0.faults = [Fault.rawResponse(Array("SSH-2.0-x\r\n".utf8)).on(.every)] }
    expect(try arena.run("/f", "--retries", "0"), code: 17, says: [arena.origin.url("/f")])
    #expect(arena.names.isEmpty)
  }

  @Test("17: an end that cannot be told from a cut, unless it is accepted")
  func unframed() throws {
    let arena = try Arena(["/f": resource])
    arena.origin.update("/f") {
      $0.supportsRanges = false
      $0.framing = .close
    }
    let ended = try arena.run("/f")
    let left = "left 3.0 MB in \(arena.folder.path)/f.haul-part; the same command starts over"
    expect(ended, code: 17, says: ["cannot be told from a cut", left, "--accept-unframed", "--sha256"])
    // Nothing is called kept that nobody can go on from.
    #expect(!ended.errors.contains("kept") && !arena.names.contains("f"))
    #expect(try arena.run("/f", "--accept-unframed").end == .exit(0))
    #expect(try arena.holds("f", ReferenceContent(seed: 1, length: Self.length)))
  }

  @Test(
    "64: a command that makes no sense touches nothing",
    arguments: [
      ([], "url"), (["nonsense"], "https://nonsense"), (["ftp://127.0.0.1/x"], "only http and https"),
      (["ftp://127.0.0.1/x"], "curl"), (["file:///x"], "cp copies it"), (["htp://h/x"], "not htp"),
      (["https//h/x"], "write it as https://h/x"), (["http:h/x"], "write it as http://h/x"),
      ([""], "the URL is empty"), (["http://"], "names no host"), (["http://h:99999/x"], "its port"),
      (["http://[::1/x"], "IPv6"), (["http://a b/x"], "a character that no host has"), (["/x"], "absolute"),
      (["http://127.0.0.1:9/x", "--retries", "-1"], "0 to 1000"), (["http://127.0.0.1:9/x", "-x"], "-x"),
      (["http://127.0.0.1:9/x", "--retries", "5000"], "0 to 1000"),
      (["http://127.0.0.1:9/x", "-c", "-1"], "256"),
      (["http://127.0.0.1:9/x", "--connect-timeout", "-1"], "above 0"),
      (["http://127.0.0.1:9/x", "-c", "0"], "256"),
      (["http://127.0.0.1:9/x", "-c", "many"], "many"), (["http://127.0.0.1:9/x", "--sha256", "12"], "64"),
      (["http://127.0.0.1:9/x", "-H", "no colon"], "Name: value"),
      (["http://127.0.0.1:9/x", "-H", "Range: bytes=0-1"], "missing pieces"),
      (["http://127.0.0.1:9/x", "-H", "Host: h"], "the host is the URL's"),
      (["http://127.0.0.1:9/x", "--retries", "x"], "--retries"),
      (["http://127.0.0.1:9/x", "--frobnicate"], "--frobnicate"),
      (["http://127.0.0.1:9/x", "http://127.0.0.1:9/y", "-o", "z"], "-o"),
      (["http://127.0.0.1:9/x", "-o", "/z", "-d", "."], "-d"),
      (["http://127.0.0.1:9/x", "--no-digest", "--sha256", "z"], "--no-digest"),
      (["http://127.0.0.1:9/x", "--connect-timeout", "0"], "timeout"),
      (["http://127.0.0.1:9/x", "-o", "folder/"], "folder/"),
    ] as [([String], String)])
  func usage(arguments: [String], says: String) throws {
    let folder = try TemporaryDirectory()
    expect(try HaulProcess.run(arguments, in: folder.path), code: 64, says: [says])
    #expect(Files.names(in: folder.path).isEmpty)
  }

  @Test("a failure that comes at once ends with its code and not with a crash", arguments: 0..<20)
  func endsInOrder(_ round: Int) throws {
    let ended = try HaulProcess.run(["http://127.0.0.1:9/x", "--sha256", "zz"])
    #expect(ended.end == .exit(64))
  }

  @Test("of several files each is fetched, and the first failure is the exit code")
  func several() throws {
    let arena = try Arena(["/a": resource, "/c": .reference(seed: 3, length: 5)])
    let ended = try HaulProcess.run(
      ["/a", "/missing", "/c"].map { arena.origin.url($0) } + ["-d", arena.folder.path])
    #expect(ended.end == .exit(11), "\(ended.errors)")
    #expect(arena.names == ["a", "c"])
    #expect(ended.output.split(separator: "\n").count == 4)
    #expect(ended.errors.contains("/missing"))
  }

  @Test("an empty file is a file")
  func empty() throws {
    let arena = try Arena(["/f": .reference(seed: 1, length: 0)])
    let ended = try arena.run("/f")
    #expect(ended.end == .exit(0) && ended.errors.isEmpty && !ended.output.contains("B/s"))
    #expect(arena.names == ["f"] && Files.size(of: arena.folder.path(of: "f")) == 0)
  }
}
