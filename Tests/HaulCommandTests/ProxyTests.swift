// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

/// Proxies come from the environment. An origin stands for the proxy: it serves the path of an absolute URL.
@Suite(.timeLimit(.minutes(10)))
struct ProxyTests {
  private let resource = OriginResource.reference(seed: 1, length: 1000)

  private func run(_ arena: Arena, url: String, _ more: [String: String]) throws -> ChildProcess.Ended {
    var environment = HaulProcess.environment
    for (name, value) in more { environment[name] = value }
    return try HaulProcess.run([url, "-d", arena.folder.path, "--retries", "0"], environment: environment)
  }

  @Test("a proxy is asked for the absolute URL", arguments: ["http_proxy", "all_proxy", "ALL_PROXY"])
  func used(variable: String) throws {
    let proxy = try Arena(["/f": resource])
    let ended = try run(proxy, url: "http://file.invalid/f", [variable: proxy.origin.url("")])
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(proxy.origin.requests().map(\.target) == ["http://file.invalid/f"])
    #expect(proxy.origin.requests().first?.fields["Host"] == "file.invalid")
  }

  @Test("no_proxy excludes hosts, and HTTP_PROXY in capitals is not believed")
  func excluded() throws {
    let proxy = try Arena()
    let arena = try Arena(["/f": resource, "/g": resource])
    let address = proxy.origin.url("")
    let first = try run(
      arena, url: arena.origin.url("/f"), ["http_proxy": address, "no_proxy": "example.org,127.0.0.1"])
    #expect(first.end == .exit(0), "\(first.errors)")
    #expect(try run(arena, url: arena.origin.url("/g"), ["HTTP_PROXY": address]).end == .exit(0))
    #expect(proxy.origin.requests().isEmpty)
  }

  @Test("a proxy that is not there is a network error")
  func missing() throws {
    let proxy = try Arena()
    let address = proxy.origin.url("")
    proxy.origin.stop()
    let ended = try run(proxy, url: "http://file.invalid/f", ["http_proxy": address])
    #expect(ended.end == .exit(10) && ended.errors.contains("http://file.invalid/f"))
  }

  @Test(
    "what a proxy says when it opens a tunnel is no answer of the server",
    .enabled(if: NginxServer.isInstalled, "nginx is not installed"),
    arguments: [
      "HTTP/1.1 200 Connection established",
      "HTTP/1.0 200 OK\r\nETag: \"proxy\"\r\nContent-Range: bytes 0-9/10\r\nLast-Modified: Tue, 02 Jan 2024 03:04:05 GMT",
      "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\nLocation: http://127.0.0.1:1/",
    ])
  func tunnel(answer: String) throws {
    let content = ReferenceContent(seed: 1, length: 6_000_000)
    let server = try NginxServer()
    try Files.write("\(server.root)/f", length: content.length) { content.fill($0, at: $1) }
    let proxy = try ConnectProxy(answer: answer + "\r\n\r\n", target: server.securePort)
    let arena = try Arena()
    var environment = HaulProcess.environment
    environment["https_proxy"] = "http://127.0.0.1:\(proxy.port)"
    let ended = try HaulProcess.run(
      [server.secureURL("plain/f"), "-d", arena.folder.path, "--cacert", server.certificate, "-c", "3"],
      environment: environment)
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(try arena.holds("f", content))
  }

  @Test("secrets of the URL and of headers are told to nobody else", arguments: ["-H", "user"])
  func secrets(kind: String) throws {
    let target = try Arena(["/f": resource])
    let arena = try Arena(["/f": .redirect(to: target.origin.url("/f"))])
    let direct = arena.origin.url("/f?token=hunter2")
    let url = kind == "user" ? direct.replacing("http://", with: "http://me:hunter2@") : direct
    let ended = try HaulProcess.run(
      [url, "-d", arena.folder.path] + (kind == "-H" ? ["-H", "X-Secret: hunter2"] : []))
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(
      arena.origin.requests().contains { request in
        request.fields.contains { $0.value.contains("hunter2") || $0.name == "Authorization" }
      })
    #expect(
      target.origin.requests().allSatisfy { request in
        request.fields.allSatisfy { !$0.value.contains("hunter2") && $0.name != "Authorization" }
      })
    #expect(!ended.output.contains("hunter2") && !ended.errors.contains("hunter2"))
    arena.origin.remove("/f")
    let failed = try HaulProcess.run([url, "-o", arena.folder.path(of: "g"), "--retries", "0"])
    #expect(failed.end == .exit(11) && !failed.errors.contains("hunter2"))
  }
}
