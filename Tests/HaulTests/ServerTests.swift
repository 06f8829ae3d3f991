// SPDX-License-Identifier: Apache-2.0

import Haul
import HaulOrigin
import TestSupport
import Testing

private let MiB = 1 << 20

/// Servers that do it in another way, all within HTTP.
@Suite(.timeLimit(.minutes(10))) struct ServerTests {
  @Test("a server without ranges sends the file in one answer", arguments: [0, 1, 3 * MiB, 9 * MiB + 5])
  func noRanges(length: Int) async throws {
    var resource = OriginResource.reference(seed: 1, length: length)
    resource.supportsRanges = false
    let bench = try Bench(["/f": resource])
    let download = bench.start()
    let result = try await download.result()
    bench.expectFile(length: length)
    #expect(try result.sha256 == sha256(length: length))
    #expect(bench.origin.requests().count == 1)
    // An empty file has nothing to start over.
    let expected = [DownloadNotice.cannotResume(why: "the server cannot send a part of a file")]
    #expect(download.takeNotices() == (length == 0 ? [] : expected))
  }

  @Test("a chunked answer without a length arrives whole", arguments: [0, 1, 3 * MiB + 7])
  func chunked(length: Int) async throws {
    var resource = OriginResource.reference(seed: 1, length: length)
    resource.supportsRanges = false
    resource.framing = .chunked
    let bench = try Bench(["/f": resource])
    let result = try await bench.fetch()
    bench.expectFile(length: length)
    #expect(try result.length == length && result.sha256 == sha256(length: length))
    #expect(bench.names == ["f"])
  }

  @Test("a chunked part is as good as any")
  func chunkedRanges() async throws {
    var resource = OriginResource.reference(seed: 1, length: 20 * MiB)
    resource.framing = .chunked
    let bench = try Bench(["/f": resource])
    try await bench.fetch()
    bench.expectFile(length: 20 * MiB)
  }

  @Test("a body that ends with its connection is taken only where its end can be told from a cut")
  func unframed() async throws {
    var resource = OriginResource.reference(seed: 1, length: 2 * MiB)
    resource.supportsRanges = false
    resource.framing = .close
    let bench = try Bench(["/f": resource])
    let error = await bench.failure()
    #expect(error?.code == .brokenProtocol && error?.advice?.contains("--accept-unframed") == true)
    #expect(!bench.names.contains("f"))
    try await bench.fetch(to: "accepted") { $0.acceptsUnframed = true }
    bench.expectFile("accepted", length: 2 * MiB)
    let wanted = try sha256(length: 2 * MiB)
    let result = try await bench.fetch(to: "verified", sha256: wanted)
    #expect(result.digestStatus == .verified)
    bench.expectFile("verified", length: 2 * MiB)
  }

  @Test("redirects are followed hop by hop, relative and absolute", arguments: [301, 302, 303, 307, 308])
  func redirects(status: Int) async throws {
    let length = 12 * MiB
    let bench = try Bench(["/a/f": .reference(seed: 1, length: length)])
    bench.origin.put(.redirect(to: "../c?x=1#y", status: status), at: "/b/f")
    bench.origin.put(.redirect(to: bench.origin.url("/a/f"), status: status), at: "/c")
    try await bench.fetch("/b/f") { $0.connections = .fixed(4) }
    bench.expectFile(length: length)
    let targets = bench.origin.requests().map(\.target)
    #expect(targets.prefix(3) == ["/b/f", "/c?x=1", "/a/f"])
    #expect(
      targets.dropFirst(3).allSatisfy { $0 == "/a/f" }, "later leases go where the first answer came from")
  }

  @Test("headers and credentials stay with the origin that they were given for")
  func secrets() async throws {
    let length = 12 * MiB
    let target = try Bench(["/f": .reference(seed: 1, length: length)])
    let bench = try Bench()
    bench.origin.put(.redirect(to: "/second"), at: "/first")
    bench.origin.put(.redirect(to: target.origin.url("/f")), at: "/second")
    let url = bench.origin.url("/first").replacing("http://", with: "http://user:pass%21@")
    try await bench.fetch(url, headers: ["X-Token: abc", "Cookie: secret"])
    bench.expectFile(length: length)
    let own = bench.origin.requests()
    #expect(own.count == 2)
    for request in own {
      #expect(request.fields["X-Token"] == "abc" && request.fields["Cookie"] == "secret")
      #expect(request.fields["Authorization"] == "Basic dXNlcjpwYXNzIQ==")
    }
    for request in target.origin.requests() {
      #expect(request.fields["X-Token"] == nil && request.fields["Cookie"] == nil)
      #expect(request.fields["Authorization"] == nil && request.fields["Referer"] == nil)
    }
  }

  @Test(
    "redirects that lead nowhere are errors, and leave nothing",
    arguments: ["/f", "ftp://127.0.0.1/f", "file:///etc/passwd", "http://", "//"])
  func badRedirects(location: String) async throws {
    let bench = try Bench(["/f": .redirect(to: location)])
    let error = await bench.failure()
    #expect(error?.code == .brokenProtocol && error?.kept == nil)
    #expect(bench.origin.requests().count <= 11)
    #expect(bench.names.isEmpty)
  }

  @Test(
    "a URL without a name takes the server's, made safe",
    arguments: [
      ("attachment; filename=\"data.bin\"", "data.bin"),
      ("attachment; filename*=UTF-8''na%C3%AFve.bin", "naïve.bin"),
      ("attachment; filename=\"../../evil\"", nil), ("attachment; filename=\"/etc/passwd\"", nil),
      ("attachment; filename=\"..\"", nil), ("attachment; filename=\"a\\u0000b\"", nil),
      ("attachment", "download"),
      ("attachment; filename=\"f.haul-part\"", nil), ("attachment; filename=\".bashrc\"", nil),
    ])
  func suggested(disposition: String, name: String?) async throws {
    let length = 6 * MiB
    var resource = OriginResource.reference(seed: 1, length: length)
    resource.contentDisposition = disposition
    let bench = try Bench(["/": resource])
    let result = try await bench.fetch("/", to: nil)
    let found = bench.names
    #expect(found.count == 1 && (name == nil || found == [name!]))
    let saved = try #require(found.first)
    #expect(result.path == bench.folder.path(of: saved))
    #expect(!saved.hasPrefix("."))
    bench.expectFile(saved, length: length)
    #expect(bench.origin.requests().filter { $0.range?.resolved(length: length)?.lowerBound == 0 }.count == 1)
  }

  @Test("the name in the URL wins over the server's")
  func named() async throws {
    var resource = OriginResource.reference(seed: 1, length: 10)
    resource.contentDisposition = "attachment; filename=other"
    let bench = try Bench(["/d/na%20me.bin": resource])
    try await bench.fetch("/d/na%20me.bin?token=1", to: nil)
    #expect(bench.names == ["na me.bin"])
    #expect(bench.origin.requests().first?.target == "/d/na%20me.bin?token=1")
  }

  @Test("interim answers are skipped")
  func interim() async throws {
    let early = Array("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".utf8)
    let bench = try Bench([
      "/f": .reference(seed: 1, length: 9 * MiB, faults: [Fault.preamble(early).on(.every)])
    ])
    try await bench.fetch()
    bench.expectFile(length: 9 * MiB)
  }
}
