// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

/// Whom the command trusts, and what it makes of a connection that somebody has cut.
@Suite(.timeLimit(.minutes(10)), .enabled(if: TLSServer.isAvailable, "needs openssl and python3"))
struct TLSTests {
  private static let body = [UInt8]("the whole file\n".utf8)
  /// An answer that says its length.
  private static let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body

  private let authority: CertificateAuthority
  private let folder: TemporaryDirectory

  init() throws {
    authority = try CertificateAuthority()
    folder = try TemporaryDirectory()
  }

  private func run(_ server: TLSServer, _ more: [String] = []) throws -> ChildProcess.Ended {
    try HaulProcess.run([server.url("/f"), "-d", folder.path, "--retries", "0"] + more)
  }

  private var trust: [String] { ["--cacert", authority.certificate] }

  private func expectRefused(
    _ ended: ChildProcess.Ended, _ server: TLSServer, says: [String],
    at location: SourceLocation = #_sourceLocation
  ) {
    #expect(ended.end == .exit(10), "\(ended.errors)", sourceLocation: location)
    #expect(ended.stdout.isEmpty && ended.stderr.isHarmlessText, "\(ended.errors)", sourceLocation: location)
    for text in says { #expect(ended.errors.contains(text), "\(ended.errors)", sourceLocation: location) }
    #expect(server.requests.isEmpty, "nothing is asked of whom nobody trusts", sourceLocation: location)
    #expect(Files.names(in: folder.path).isEmpty, sourceLocation: location)
  }

  @Test("the right certificate of the authority that was named")
  func trusted() throws {
    let server = try TLSServer(authority.issue("right"), answer: Self.answer)
    let ended = try run(server, trust)
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(try Files.bytes(of: folder.path(of: "f")) == Self.body)
  }

  @Test(
    "a server that would rather speak HTTP/2 is asked in HTTP/1.1, so that no other request shares a connection"
  )
  func version() throws {
    let server = try TLSServer(authority.issue("right"), answer: Self.answer)
    #expect(try run(server, trust + ["-c", "4"]).end == .exit(0))
    #expect(server.requests.hasPrefix("GET /f HTTP/1.1\r\n"), "\(server.requests)")
  }

  @Test("10: an authority that nobody has named")
  func unknown() throws {
    let server = try TLSServer(authority.issue("right"), answer: Self.answer)
    expectRefused(try run(server), server, says: ["certificate", "--cacert"])
  }

  @Test("10: a certificate that is signed by itself alone, with and without --cacert")
  func selfSigned() throws {
    let server = try TLSServer(authority.selfSigned(), answer: Self.answer)
    expectRefused(try run(server), server, says: ["self", "--cacert"])
    expectRefused(try run(server, trust), server, says: ["self", "--cacert"])
  }

  @Test("10: a certificate of another host", arguments: ["DNS:other.example", "IP:127.0.0.2"])
  func otherHost(name: String) throws {
    let server = try TLSServer(authority.issue("other", alternativeName: name), answer: Self.answer)
    expectRefused(try run(server, trust), server, says: ["127.0.0.1"])
  }

  @Test("10: a certificate whose name would act on the terminal is shown escaped")
  func hostileName() throws {
    let name = "\u{1b}]0;x\u{7}\u{9b}31m"
    let server = try TLSServer(
      authority.issue("hostile", commonName: name, alternativeName: nil), answer: Self.answer)
    expectRefused(try run(server, trust), server, says: ["127.0.0.1"])
  }

  @Test("10: a certificate that has expired")
  func expired() throws {
    let server = try TLSServer(authority.issue("old", days: -1), answer: Self.answer)
    expectRefused(try run(server, trust), server, says: ["expired"])
  }

  @Test("10: a server that speaks nothing newer than TLS 1.1")
  func oldVersion() throws {
    let server = try TLSServer(authority.issue("right"), answer: Self.answer, isOld: true)
    expectRefused(try run(server, trust), server, says: ["protocol version"])
  }

  /// A name, the head, whether --accept-unframed is given.
  private static let cuts: [(String, String, [String])] = [
    ("fewer bytes than were announced", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", []),
    ("a last chunk that never comes", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nf\r\n", []),
    ("an end that only the connection tells", "HTTP/1.1 200 OK\r\n\r\n", []),
    ("the same, although --accept-unframed is given", "HTTP/1.1 200 OK\r\n\r\n", ["--accept-unframed"]),
    ("HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\n", ["--accept-unframed"]),
  ]

  @Test("a connection that ends without close_notify is a cut, never the end of a file", arguments: cuts)
  func cut(name: String, head: String, more: [String]) throws {
    let server = try TLSServer(authority.issue("right"), answer: Array(head.utf8) + Self.body, ending: .cut)
    let ended = try run(server, trust + more)
    #expect(ended.end == .exit(10) || ended.end == .exit(17), "\(name): \(ended.errors)")
    #expect(!Files.exists(folder.path(of: "f")) && ended.stdout.isEmpty, "\(name)")
  }

  @Test("with a goodbye the same end is the end of the file")
  func goodbye() throws {
    let answer = Array("HTTP/1.1 200 OK\r\n\r\n".utf8) + Self.body
    let server = try TLSServer(authority.issue("right"), answer: answer)
    let ended = try run(server, trust)
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(try Files.bytes(of: folder.path(of: "f")) == Self.body)
  }

  @Test("a redirect from https to http is followed only with --allow-downgrade, and never with a secret")
  func downgrade() throws {
    let arena = try Arena(["/f": .reference(seed: 1, length: 1000)])
    let location =
      "HTTP/1.1 302 Found\r\nLocation: \(arena.origin.url("/f?t=1"))\r\nContent-Length: 0\r\n\r\n"
    let server = try TLSServer(authority.issue("right"), answer: Array(location.utf8))
    let secrets = ["-H", "X-Secret: hunter2", "-H", "Cookie: hunter2"]
    let url = server.url("/f").replacing("https://", with: "https://me:hunter2@")
    let arguments = [url, "-d", folder.path, "--retries", "0"] + trust + secrets
    let refused = try HaulProcess.run(arguments)
    #expect(refused.end == .exit(17) && refused.errors.contains("--allow-downgrade"), "\(refused.errors)")
    #expect(!refused.errors.contains("t=1") && !refused.errors.contains("hunter2"))
    #expect(arena.origin.requests().isEmpty)
    let ended = try HaulProcess.run(arguments + ["--allow-downgrade"])
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(server.requests.contains("X-Secret: hunter2") && server.requests.contains("Authorization: Basic"))
    let received = arena.origin.requests()
    #expect(!received.isEmpty)
    for request in received {
      #expect(request.fields.allSatisfy { !$0.value.contains("hunter2") && $0.name != "Authorization" })
    }
  }

  @Test("64: a --cacert that holds no certificate is the fault, not the server")
  func noCertificate() throws {
    let server = try TLSServer(authority.issue("right"), answer: Self.answer)
    let path = folder.path + ".not.pem"
    try Files.write("no certificate\n", to: path)
    let ended = try run(server, ["--cacert", path])
    #expect(ended.end == .exit(64) && ended.errors.contains(path), "\(ended.errors)")
  }

  @Test(
    "10: https to a port that speaks http, and what to do",
    .enabled(if: NginxServer.isInstalled, "nginx is not installed"))
  func plainPort() throws {
    let server = try NginxServer()
    let url = server.url("plain/f").replacing("http://", with: "https://")
    let ended = try HaulProcess.run([url, "-d", folder.path])
    #expect(ended.end == .exit(10) && ended.errors.contains("does not speak TLS"), "\(ended.errors)")
    #expect(ended.errors.contains("http://"))
  }
}
