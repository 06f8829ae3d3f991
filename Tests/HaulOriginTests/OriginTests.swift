// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HaulOrigin

/// What an obedient resource answers.
struct OriginTests {
  private let content = ReferenceContent(seed: 3, length: 100_000)
  private var resource: OriginResource { .reference(seed: 3, length: 100_000) }
  private var etag: String { "\"3-186a0\"" }

  @Test("GET without Range gives 200 and the whole content with its fields")
  func whole() throws {
    var named = resource
    named.contentDisposition = "attachment; filename=\"x\""
    named.reprDigest = "sha-256=:AA==:"
    named.extraHeaders = [HeaderField("X-Extra", "1")]
    try withOrigin(["/f": named]) { origin in
      let response = try RawClient(origin).request("/f")
      #expect(response.status == 200)
      #expect(response.body == content.bytes(in: 0..<100_000))
      #expect(response["Content-Length"] == "100000")
      #expect(response["ETag"] == etag)
      #expect(response["Last-Modified"] == "Tue, 02 Jan 2024 03:04:05 GMT")
      #expect(response["Accept-Ranges"] == "bytes")
      #expect(response["Date"].flatMap(HTTPDate.seconds) != nil)
      #expect(response["Content-Disposition"] == named.contentDisposition)
      #expect(response["Repr-Digest"] == named.reprDigest)
      #expect(response["X-Extra"] == "1")
    }
  }

  @Test(
    "a range gives 206 with its exact place",
    arguments: [
      ("bytes=0-0", 0..<1), ("bytes=999-1999", 999..<2000), ("bytes=99990-", 99_990..<100_000),
      ("bytes=-3", 99_997..<100_000), ("bytes=99999-200000", 99_999..<100_000),
    ])
  func ranges(field: String, range: Range<Int>) throws {
    try withOrigin(["/f": resource]) { origin in
      let response = try RawClient(origin).request("/f", ["Range: \(field)"])
      #expect(response.status == 206)
      #expect(response["Content-Range"] == "bytes \(range.lowerBound)-\(range.upperBound - 1)/100000")
      #expect(response["ETag"] == etag)
      #expect(response.body == content.bytes(in: range))
    }
  }

  @Test("a range past the end gives 416 with the length")
  func unsatisfiable() throws {
    try withOrigin(["/f": resource, "/empty": OriginResource(.bytes([]))]) { origin in
      let client = try RawClient(origin)
      let response = try client.request("/f", ["Range: bytes=100000-"])
      #expect(response.status == 416 && response["Content-Range"] == "bytes */100000")
      #expect(try client.request("/empty", ["Range: bytes=0-9"])["Content-Range"] == "bytes */0")
      let empty = try client.request("/empty")
      #expect(empty.status == 200 && empty["Content-Length"] == "0" && empty.body.isEmpty)
    }
  }

  @Test("a resource without range support answers 200 and does not claim it")
  func noRanges() throws {
    var plain = resource
    plain.supportsRanges = false
    try withOrigin(["/f": plain]) { origin in
      let response = try RawClient(origin).request("/f", ["Range: bytes=5-9"])
      #expect(response.status == 200 && response["Accept-Ranges"] == nil && response.body.count == 100_000)
    }
  }

  @Test(
    "conditions are judged by RFC 9110",
    arguments: [
      ("If-Match: \"3-186a0\"", 206), ("If-Match: \"x\", \"3-186a0\"", 206), ("If-Match: *", 206),
      ("If-Match: \"x\"", 412), ("If-Match: W/\"3-186a0\"", 412),
      ("If-Unmodified-Since: Tue, 02 Jan 2024 03:04:05 GMT", 206),
      ("If-Unmodified-Since: Tue, 02 Jan 2024 03:04:04 GMT", 412), ("If-Unmodified-Since: nonsense", 206),
      ("If-None-Match: \"3-186a0\"", 304), ("If-None-Match: W/\"3-186a0\"", 304),
      ("If-None-Match: \"x\"", 206),
      ("If-Modified-Since: Tue, 02 Jan 2024 03:04:05 GMT", 304),
      ("If-Modified-Since: Tue, 02 Jan 2024 03:04:04 GMT", 206),
      ("If-Range: \"3-186a0\"", 206), ("If-Range: \"x\"", 200), ("If-Range: W/\"3-186a0\"", 200),
      ("If-Range: Tue, 02 Jan 2024 03:04:05 GMT", 206), ("If-Range: Tue, 02 Jan 2024 03:04:06 GMT", 200),
    ])
  func conditions(field: String, status: Int) throws {
    try withOrigin(["/f": resource]) { origin in
      let client = try RawClient(origin)
      #expect(try client.request("/f", ["Range: bytes=0-9", field]).status == status)
      #expect(try client.request("/f", ["Range: bytes=0-9"]).status == 206, "the connection is still in step")
    }
  }

  @Test("HEAD gives the fields of the whole, no body, and is counted")
  func head() throws {
    try withOrigin(["/f": resource]) { origin in
      let client = try RawClient(origin)
      let response = try client.request("/f", method: "HEAD", ["Range: bytes=0-9"])
      #expect(response.status == 200 && response["Content-Length"] == "100000")
      #expect(try client.request("/f", ["Range: bytes=0-9"]).body.count == 10)
      #expect(origin.waitUntilIdle())
      #expect(origin.journal().count(method: "HEAD") == 1)
      #expect(origin.requests()[0].bodyBytesSent == 0)
    }
  }

  @Test("one connection serves request after request, pipelined ones too")
  func keepAlive() throws {
    try withOrigin(["/f": resource]) { origin in
      let client = try RawClient(origin)
      client.ask("/f", ["Range: bytes=0-9"])
      client.ask("/f", ["Range: bytes=10-19"])
      #expect(try client.response().body + client.response().body == content.bytes(in: 0..<20))
      let last = try client.request("/f", ["Range: bytes=1-1", "Connection: close"])
      #expect(last["Connection"] == "close" && client.readToEnd().isEmpty && client.end == .closed)
      #expect(origin.requests().map(\.connection) == [1, 1, 1])
    }
  }

  @Test(
    "chunked and close-delimited bodies arrive whole", arguments: [OriginResource.Framing.chunked, .close])
  func framings(framing: OriginResource.Framing) throws {
    var open = resource
    open.framing = framing
    try withOrigin(["/f": open]) { origin in
      let client = try RawClient(origin)
      let response = try client.request("/f")
      #expect(response["Content-Length"] == nil && response.body == content.bytes(in: 0..<100_000))
      #expect(origin.waitUntilIdle())
      #expect(origin.requests()[0].bodyBytesSent == 100_000)
      if framing == .chunked { #expect(try client.request("/f", ["Range: bytes=1-2"]).body.count == 2) }
    }
  }

  @Test("unknown paths, other methods and redirects have their status")
  func others() throws {
    try withOrigin(["/f": resource, "/r": .redirect(to: "/f?x=1", status: 307)]) { origin in
      let client = try RawClient(origin)
      #expect(try client.request("/none").status == 404)
      #expect(try client.request("/f", method: "PUT").status == 405)
      let redirect = try client.request("/r")
      #expect(redirect.status == 307 && redirect["Location"] == "/f?x=1")
      #expect(try client.request("/f?x=1", ["Range: bytes=0-0"]).status == 206)
      #expect(origin.requests().last?.target == "/f?x=1")
    }
  }

  @Test("a change while running shows from the next request on")
  func mutation() throws {
    try withOrigin(["/f": resource]) { origin in
      let client = try RawClient(origin)
      #expect(try client.request("/f", ["Range: bytes=0-9", "If-Match: \(etag)"]).status == 206)
      origin.update("/f") {
        $0.content = .bytes(Array("new".utf8))
        $0.etag = "\"new\""
      }
      #expect(try client.request("/f", ["Range: bytes=0-9", "If-Match: \(etag)"]).status == 412)
      #expect(try client.request("/f").body == Array("new".utf8))
      origin.remove("/f")
      #expect(try client.request("/f").status == 404)
    }
  }
}
