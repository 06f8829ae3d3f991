// SPDX-License-Identifier: Apache-2.0

import Haul
import HaulOrigin
import TestSupport
import Testing

private let MiB = 1 << 20

/// Who receives what along a chain of redirects. An origin is scheme, host and port.
@Suite(.timeLimit(.minutes(10))) struct RedirectTests {
  private static let length = 6 * MiB
  private let resource = OriginResource.reference(seed: 1, length: length)
  /// What a request has that tells nothing of the user.
  private static let plain: Set<String> = [
    "host", "user-agent", "accept", "accept-encoding", "cache-control", "range",
  ]
  private static let headers = ["X-Api-Key: abc", "Cookie: c", "Referer: r", "Proxy-Authorization: p"]

  /// The names of the fields of a request. Conditions depend on the server's validators, not on the user.
  private func names(_ request: RequestRecord) -> Set<String> {
    Set(request.fields.map { $0.name.lowercased() }).subtracting(["if-match", "if-unmodified-since"])
  }

  private func url(_ bench: Bench, _ path: String) -> String {
    bench.origin.url(path).replacing("http://", with: "http://user:pass@")
  }

  @Test("within one origin every hop gets the headers and the credentials")
  func sameOrigin() async throws {
    let bench = try Bench(["/a": .redirect(to: "/b"), "/b": resource])
    try await bench.fetch(url(bench, "/a"), headers: Self.headers)
    bench.expectFile(length: Self.length)
    let wanted = Self.plain.union(["x-api-key", "cookie", "referer", "proxy-authorization", "authorization"])
    for request in bench.origin.requests() { #expect(names(request) == wanted) }
  }

  @Test("another port, or another name of the same host, is another origin and gets none of them")
  func otherOrigin() async throws {
    let target = try Bench(["/f": resource])
    for host in ["127.0.0.1", "localhost"] {
      let location = target.origin.url("/f").replacing("127.0.0.1", with: host)
      let bench = try Bench(["/a": .redirect(to: location)])
      try await bench.fetch(url(bench, "/a"), headers: Self.headers)
      bench.expectFile(length: Self.length)
      #expect(bench.origin.requests().first?.fields["X-Api-Key"] == "abc")
    }
    let named = try Bench(["/b": resource])
    named.origin.put(
      .redirect(to: named.origin.url("/b").replacing("127.0.0.1", with: "localhost")), at: "/a")
    try await named.fetch(url(named, "/a"), headers: Self.headers)
    let strangers =
      target.origin.requests() + named.origin.requests().filter { $0.target == "/b" }
    #expect(strangers.count >= 3)
    for request in strangers { #expect(names(request) == Self.plain, "\(request.fields)") }
  }

  @Test("a hop that comes back to the first origin gets them no more: a stranger chose where it leads")
  func returning() async throws {
    let stranger = try Bench()
    let bench = try Bench(["/c": resource])
    bench.origin.put(.redirect(to: stranger.origin.url("/b")), at: "/a")
    stranger.origin.put(.redirect(to: bench.origin.url("/c")), at: "/b")
    try await bench.fetch(url(bench, "/a"), headers: Self.headers)
    bench.expectFile(length: Self.length)
    let requests = bench.origin.requests()
    #expect(requests.first?.fields["Authorization"] != nil)
    #expect(requests.count > 1)
    for request in requests.dropFirst() { #expect(names(request) == Self.plain) }
    for request in stranger.origin.requests() { #expect(names(request) == Self.plain) }
  }

  @Test("the very URL that was given is asked as at the start, even by way of a stranger")
  func sameURLAgain() async throws {
    let stranger = try Bench()
    let bench = try Bench(["/a": resource])
    bench.origin.update("/a") {
      $0.faults = [Fault.redirect(to: stranger.origin.url("/b")).on(.nth(1))]
    }
    stranger.origin.put(.redirect(to: bench.origin.url("/a")), at: "/b")
    try await bench.fetch(url(bench, "/a"), headers: Self.headers)
    bench.expectFile(length: Self.length)
    #expect(bench.origin.requests().allSatisfy { $0.fields["X-Api-Key"] == "abc" })
    #expect(stranger.origin.requests().allSatisfy { names($0) == Self.plain })
  }

  @Test("user info in a Location is never sent, and takes the place of nothing")
  func userInfoInLocation() async throws {
    let target = try Bench(["/f": resource])
    let evil = { (bench: Bench, path: String) in
      bench.origin.url(path).replacing("http://", with: "http://evil:twin@")
    }
    let bench = try Bench(["/b": resource])
    bench.origin.put(.redirect(to: evil(bench, "/b")), at: "/own")
    bench.origin.put(.redirect(to: evil(target, "/f")), at: "/other")
    try await bench.fetch(url(bench, "/own"))
    for request in bench.origin.requests() {
      #expect(request.fields["Authorization"] == "Basic dXNlcjpwYXNz")
    }
    try await bench.fetch(bench.origin.url("/other"), to: "g")
    for request in target.origin.requests() { #expect(names(request) == Self.plain) }
  }

  @Test(
    "from http by way of https back to http is a downgrade too, at a resume, and what is there stays",
    .enabled(if: TLSServer.isAvailable, "needs openssl and python3"))
  func downgradeInResume() async throws {
    var held = resource
    held.gate = .init("hold", at: MiB)
    let bench = try Bench(["/f": held, "/link": .redirect(to: "/f")])
    let kept = try #require(await bench.interrupted("/link", held: 2) { $0.connections = .fixed(2) }?.kept)
    bench.wait { $0.activeRequests == 0 }
    bench.origin.openGate("hold")
    let authority = try CertificateAuthority()
    let head = "HTTP/1.1 302 Found\r\nLocation: \(bench.origin.url("/f"))\r\nContent-Length: 0\r\n\r\n"
    let server = try TLSServer(authority.issue("right"), answer: Array(head.utf8))
    bench.origin.put(.redirect(to: server.url("/x")), at: "/link")
    let error = await bench.failure("/link") { $0.caFile = authority.certificate }
    #expect(error?.code == .brokenProtocol && error?.message.contains("down to http") == true)
    #expect(error?.kept == kept)
    let result = try await bench.fetch("/link") {
      $0.caFile = authority.certificate
      $0.allowsDowngrade = true
    }
    bench.expectFile(length: Self.length)
    #expect(result.resumedBytes == kept.written)
  }

  @Test("ten hops are followed, eleven are not")
  func hops() async throws {
    let bench = try Bench(["/11": resource])
    for hop in 0...10 { bench.origin.put(.redirect(to: "/\(hop + 1)"), at: "/\(hop)") }
    try await bench.fetch("/1")
    bench.expectFile(length: Self.length)
    let error = await bench.failure("/0", to: "g")
    #expect(error?.code == .brokenProtocol && error?.message.contains("more than 10 redirects") == true)
    #expect(bench.names == ["f"])
  }

  @Test(
    "a Location that no URL has is an error that does not repeat it",
    arguments: [
      "ftp://127.0.0.1/secret", "file:///secret", "gopher://h/secret", "data:,secret", "http://[::secret/",
      "/" + String(repeating: "secret/", count: 2500),
    ])
  func notFollowed(location: String) async throws {
    let bench = try Bench(["/f": .redirect(to: location)])
    let error = await bench.failure()
    #expect(error?.code == .brokenProtocol)
    #expect(error?.description.contains("secret") == false, "\(error?.description ?? "")")
    #expect(bench.origin.requests().count == 1 && bench.names.isEmpty)
  }

  @Test("credentials: the request's own win over the URL's, and those over .netrc")
  func precedence() async throws {
    let bench = try Bench(["/f": .reference(seed: 1, length: 10)])
    let netrc = "default login x password x machine 127.0.0.1 login me password net"
    let rows: [(String, DownloadRequest.Login, String?)] = [
      (bench.origin.url("/f"), .none, nil),
      (url(bench, "/f"), .none, "dXNlcjpwYXNz"),
      (url(bench, "/f"), .basic(user: "a", password: "b"), "YTpi"),
      (bench.origin.url("/f"), .netrc(text: netrc), "bWU6bmV0"),
      (url(bench, "/f"), .netrc(text: netrc), "dXNlcjpwYXNz"),
      (bench.origin.url("/f"), .netrc(text: "default login x password x"), nil),
      (bench.origin.url("/f").replacing("127.0.0.1", with: "localhost"), .netrc(text: netrc), nil),
    ]
    for (index, (address, login, wanted)) in rows.enumerated() {
      var request = bench.request(address, to: "f\(index)")
      request.login = login
      _ = try await bench.downloader.start(request).result()
      #expect(
        bench.origin.requests().last?.fields["Authorization"] == wanted.map { "Basic " + $0 }, "row \(index)")
    }
  }

  @Test(
    "credentials and header lines that cannot be sent are refused without being repeated",
    arguments: ["hunter2", "A: hunter2\r\nB: c", "A b: hunter2", "Range: hunter2"])
  func refused(line: String) async throws {
    let bench = try Bench()
    let error = await bench.failure(headers: ["X: y", line])
    #expect(error?.code == .invalidRequest && error?.message.contains("line 2") == true)
    #expect(error?.description.contains("hunter2") == false)
    var request = bench.request()
    request.login = .basic(user: "a:b", password: "hunter2")
    let other = await bench.downloader.start(request).failure()
    #expect(other?.code == .invalidRequest && other?.description.contains("hunter2") == false)
    var agent = bench.request()
    agent.options.userAgent = "x\r\nX-Evil: hunter2"
    #expect(await bench.downloader.start(agent).failure()?.code == .invalidRequest)
    #expect(bench.origin.requests().isEmpty)
  }

  @Test(
    "a URL that cannot be fetched is shown without its secrets",
    arguments: [
      ("ftp://me:hunter2@h/f?hunter2", "ftp://h/f"), ("http://me:hun/ter2@h:x/f", "http://…"),
      ("http://me:hunter2@[h/f#hunter2", "http://[h/f"), ("me:hunter2@h/f", "h/f"),
      ("h.example/f?token=hunter2", "https://h.example/f"),
      ("http://h/a b\u{7}?hunter2", "http://h/a b\u{7}"),
      ("http://me:hun?ter2@[h/f", "http://…"),
    ])
  func shown(url: String, wanted: String) async throws {
    let bench = try Bench()
    let error = await bench.failure(url)
    #expect(error?.code == .invalidRequest)
    let text = error?.description ?? ""
    #expect(text.contains(wanted), "\(text)")
    #expect(!text.contains("hunter2") && !text.contains("ter2"), "\(text)")
  }
}
