// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

/// The command against servers that were not written for it. Bytes are compared by openssl's SHA-256.
@Suite(.timeLimit(.minutes(10)))
struct RealServerTests {
  private static let large = 300_000_000

  /// Puts a file into a server's root and returns its SHA-256.
  private func put(_ length: Int, in root: String, isText: Bool = false) throws -> String {
    let content = ReferenceContent(seed: UInt64(length), length: length)
    try Files.write("\(root)/file.txt", length: length) { buffer, offset in
      content.fill(buffer, at: offset)
      // Sixteen letters: half of it can be squeezed out.
      if isText { for index in buffer.indices { buffer[index] = 0x61 + buffer[index] & 15 } }
    }
    return try ServerSite.sha256(of: "\(root)/file.txt")
  }

  private func expectFetched(
    _ url: String, digest: String, _ more: String..., location: SourceLocation = #_sourceLocation
  ) throws {
    let folder = try TemporaryDirectory()
    let ended = try HaulProcess.run([url, "-d", folder.path, "--sha256", digest] + more)
    #expect(ended.end == .exit(0), "\(ended.errors)", sourceLocation: location)
    #expect(ended.output.hasSuffix("\(digest) verified\n"), sourceLocation: location)
    #expect(Files.names(in: folder.path) == ["file.txt"], sourceLocation: location)
    #expect(try ServerSite.sha256(of: folder.path(of: "file.txt")) == digest, sourceLocation: location)
  }

  private func expectUntrusted(_ url: String, location: SourceLocation = #_sourceLocation) throws {
    let folder = try TemporaryDirectory()
    let ended = try HaulProcess.run([url, "-d", folder.path])
    #expect(ended.end == .exit(10), "\(ended.errors)", sourceLocation: location)
    #expect(
      ended.errors.contains("certificate") && ended.errors.contains("--cacert"), sourceLocation: location)
    #expect(Files.names(in: folder.path).isEmpty, sourceLocation: location)
  }

  // MARK: nginx

  @Suite(.serialized, .enabled(if: NginxServer.isInstalled, "nginx is not installed"))
  struct Nginx {
    private let tests = RealServerTests()

    @Test("what a server declares is compared by default over TLS, and over http only when asked")
    func declared() throws {
      let server = try NginxServer()
      let folder = try TemporaryDirectory()
      func run(_ url: String, _ more: String...) throws -> ChildProcess.Ended {
        try HaulProcess.run([url, "-d", folder.path, "--cacert", server.certificate, "--overwrite"] + more)
      }
      try Files.write("abc", to: "\(server.root)/file.txt")
      let words = "matches the server's digest (Repr-Digest)\n"
      #expect(try run(server.secureURL("abc/file.txt")).output.hasSuffix(words))
      #expect(try run(server.url("abc/file.txt"), "--checksum", "auto").output.hasSuffix(words))
      #expect(try run(server.url("abc/file.txt")).output.hasSuffix(" computed\n"))
      try Files.write("abd", to: "\(server.root)/file.txt")
      let failed = try run(server.secureURL("abc/file.txt"))
      #expect(failed.end == .exit(13) && failed.errors.contains("--checksum none"), "\(failed.errors)")
      #expect(try run(server.secureURL("abc/file.txt"), "--checksum", "none").output.hasSuffix(" computed\n"))
    }

    @Test("300 MB, plain and over TLS, and no certificate that nobody knows")
    func large() throws {
      let server = try NginxServer()
      let digest = try tests.put(RealServerTests.large, in: server.root)
      try tests.expectFetched(server.url("plain/file.txt"), digest: digest)
      try tests.expectFetched(
        server.secureURL("plain/file.txt"), digest: digest, "--cacert", server.certificate)
      try tests.expectUntrusted(server.secureURL("plain/file.txt"))
      #expect(try !server.accessLog().contains("HEAD "))
      // 200: the whole file in one answer, which only a server without ranges may give.
      #expect(try !server.accessLog().contains("\" 200 "))
    }

    @Test("throttled, limited to two connections, without ranges", arguments: ["slow", "few", "whole"])
    func hindered(way: String) throws {
      let server = try NginxServer()
      let digest = try tests.put(40_000_000, in: server.root)
      try tests.expectFetched(
        server.url("\(way)/file.txt"), digest: digest, "-c", way == "slow" ? "auto" : "8")
      let log = try server.accessLog()
      #expect(log.contains("\" 503 ") == (way == "few"))
      #expect(log.contains("\" 200 ") == (way == "whole"))
    }

    @Test("compression that is switched on does not come between")
    func gzip() throws {
      let server = try NginxServer()
      let digest = try tests.put(20_000_000, in: server.root, isText: true)
      try tests.expectFetched(server.url("zip/file.txt"), digest: digest, "-c", "4")
    }
  }

  // MARK: Apache

  @Suite(.serialized, .enabled(if: ApacheServer.isInstalled, "Apache is not installed"))
  struct Apache {
    private let tests = RealServerTests()

    @Test("plain, over TLS, and without ranges")
    func fetched() throws {
      let server = try ApacheServer()
      let digest = try tests.put(60_000_000, in: server.root)
      try tests.expectFetched(server.url("plain/file.txt"), digest: digest)
      try tests.expectFetched(server.url("whole/file.txt"), digest: digest, "-c", "4")
      try tests.expectFetched(
        server.secureURL("plain/file.txt"), digest: digest, "--cacert", server.certificate)
      try tests.expectUntrusted(server.secureURL("plain/file.txt"))
    }
  }
}
