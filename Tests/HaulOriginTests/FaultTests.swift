// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HaulOrigin

/// Each fault over the wire, on a range of 10 000 bytes at 50 000 unless said otherwise.
struct FaultTests {
  private let content = ReferenceContent(seed: 5, length: 200_000)
  private let range = 50_000..<60_000
  private let field = "Range: bytes=50000-59999"

  private func facing(_ faults: FaultRule..., body: (Origin, RawClient) throws -> Void) throws {
    try withOrigin(["/f": .reference(seed: 5, length: 200_000, faults: faults)]) { origin in
      try body(origin, RawClient(origin))
    }
  }

  @Test("close and reset deliver exactly the bytes before them", arguments: [0, 1, 5000, 10_000])
  func cuts(after count: Int) throws {
    for (fault, end) in [(Fault.closeAfter(count), RawClient.End.closed), (.resetAfter(count), .reset)] {
      try facing(fault.on(.every)) { origin, client in
        let response = try client.request("/f", [field])
        #expect(response.status == 206 && response["Content-Length"] == "10000")
        #expect(response.body == content.bytes(in: 50_000..<50_000 + count))
        #expect(client.readToEnd().isEmpty && client.end == end)
        #expect(origin.waitUntilIdle())
        #expect(origin.requests()[0].bodyBytesSent == count)
        #expect(origin.requests()[0].outcome == .cut)
      }
    }
  }

  @Test("a stall sends its bytes, then nothing until the origin stops")
  func stall() throws {
    try facing(Fault.stallAfter(300).on(.every)) { origin, client in
      client.ask("/f", [field])
      let head = try client.head()
      #expect(head.status == 206)
      #expect(client.read(300) == content.bytes(in: 50_000..<50_300))
      #expect(origin.requests()[0].outcome == .inProgress)
      origin.stop()
      #expect(client.readToEnd().isEmpty)
      #expect(origin.requests()[0].outcome == .aborted && origin.requests()[0].bodyBytesSent == 300)
    }
  }

  @Test("a stall ends when the client goes away")
  func stallAbandoned() throws {
    try withOrigin(["/f": .reference(seed: 5, length: 200_000, faults: [Fault.stallAfter(3).on(.every)])]) {
      origin in
      do {
        let client = try RawClient(origin)
        client.ask("/f")
        _ = try client.head()
      }
      #expect(origin.waitUntil { $0.openConnections == 0 && $0.activeRequests == 0 })
    }
  }

  @Test("a status comes instead of the answer and the connection lives on")
  func status() throws {
    try facing(Fault.status(429, retryAfter: "7").on(.nth(1))) { _, client in
      let refused = try client.request("/f", [field])
      #expect(refused.status == 429 && refused["Retry-After"] == "7")
      #expect(try client.request("/f", [field]).status == 206)
    }
  }

  @Test(
    "a lie about the range is told in the headers that it is about",
    arguments: [
      (Fault.ignoreRange, 200, nil, 0..<200_000),
      (.shiftedContentRange(by: 100), 206, "bytes 50100-60099/200000", 50_100..<60_100),
      (.shiftedBody(by: -100), 206, "bytes 50000-59999/200000", 49_900..<59_900),
      (.wrongTotal(7), 206, "bytes 50000-59999/7", 50_000..<60_000),
      (.wrongTotal(nil), 206, "bytes 50000-59999/*", 50_000..<60_000),
      (.missingContentRange, 206, nil, 50_000..<60_000),
      (.blockAligned(700), 206, "bytes 49700-59999/200000", 49_700..<60_000),
      (.contentRange(after: "bytes="), 206, "bytes=50000-59999/200000", 50_000..<60_000),
      (.contentRanges("items 1-0/0"), 206, "items 1-0/0", 50_000..<60_000),
      (.widerRange(before: 50, after: 7), 206, "bytes 49950-60006/200000", 49_950..<60_007),
      (.widerRange(before: .max, after: .max), 206, "bytes 0-199999/200000", 0..<200_000),
      (.partAsWhole, 200, nil, 50_000..<60_000),
      (.shortRange(10), 206, "bytes 50000-50009/200000", 50_000..<50_010),
    ] as [(Fault, Int, String?, Range<Int>)])
  func lies(fault: Fault, status: Int, contentRange: String?, body: Range<Int>) throws {
    try facing(fault.on(.every)) { origin, client in
      let response = try client.request("/f", [field])
      #expect(response.status == status && response["Content-Range"] == contentRange)
      #expect(response.body == content.bytes(in: body))
      #expect(origin.waitUntilIdle())
      #expect(origin.requests()[0].sentRange == body)
    }
  }

  @Test("multipart wraps the right bytes in one part")
  func multipart() throws {
    try facing(Fault.multipart.on(.every)) { _, client in
      let response = try client.request("/f", [field])
      #expect(response.status == 206 && response["Content-Range"] == nil)
      #expect(response["Content-Type"] == "multipart/byteranges; boundary=haul-origin")
      let head = """
        --haul-origin\r\nContent-Type: application/octet-stream\r\n\
        Content-Range: bytes 50000-59999/200000\r\n\r\n
        """
      let tail = "\r\n--haul-origin--\r\n"
      #expect(response.body == Array(head.utf8) + content.bytes(in: range) + Array(tail.utf8))
    }
  }

  @Test("representation faults change their field and leave the bytes alone")
  func fields() throws {
    try facing(
      Fault.contentEncodingGzip.on(.nth(1)), Fault.changedETag("\"other\"").on(.nth(2)),
      Fault.missingETag.on(.nth(3)), Fault.missingLastModified.on(.nth(3)),
      Fault.header("X-New", "1").on(.nth(4)), Fault.header("Date", nil).on(.nth(4))
    ) { _, client in
      #expect(try client.request("/f", [field])["Content-Encoding"] == "gzip")
      #expect(try client.request("/f", [field])["ETag"] == "\"other\"")
      let bare = try client.request("/f", [field])
      #expect(bare["ETag"] == nil && bare["Last-Modified"] == nil)
      let altered = try client.request("/f", [field])
      #expect(altered["X-New"] == "1" && altered["Date"] == nil && altered.body == content.bytes(in: range))
    }
  }

  @Test("a field can be there twice")
  func twice() throws {
    try facing(
      Fault.contentRanges("bytes 0-1/2", "bytes 0-1/3").on(.every),
      Fault.addedHeader("ETag", "\"b\"").on(.every)
    ) { _, client in
      let fields = try client.request("/f", [field]).fields
      #expect(fields.filter { $0.name == "Content-Range" }.map(\.value) == ["bytes 0-1/2", "bytes 0-1/3"])
      #expect(fields.filter { $0.name == "ETag" }.map(\.value) == ["\"5-30d40\"", "\"b\""])
    }
  }

  @Test("a fresh ETag is another one each time")
  func freshETag() throws {
    try facing(Fault.freshETag.on(.every)) { _, client in
      let tags = try (0..<3).map { _ in try client.request("/f", [field])["ETag"] }
      #expect(Set(tags).count == 3 && !tags.contains(nil))
    }
  }

  @Test("another resource answers with its own bytes, length and validators")
  func instead() throws {
    var other = OriginResource.reference(seed: 6, length: 55_000)
    other.faults = [Fault.status(500).on(.every)]
    try facing(Fault.instead(other).on(.nth(2)), Fault.instead(.page("<p>")).on(.nth(3))) { _, client in
      #expect(try client.request("/f", [field]).body == content.bytes(in: range))
      let response = try client.request("/f", [field])
      #expect(response["Content-Range"] == "bytes 50000-54999/55000" && response["ETag"] == "\"6-d6d8\"")
      #expect(response.body == ReferenceContent(seed: 6, length: 55_000).bytes(in: 50_000..<55_000))
      let page = try client.request("/f", [field])
      #expect(page.status == 200 && page["Content-Type"] == "text/html" && page.body == Array("<p>".utf8))
      #expect(try client.request("/f", [field]).status == 206)
    }
  }

  @Test("a changed ETag is what conditions are judged by, unless they are ignored")
  func changedETag() throws {
    try facing(Fault.changedETag("\"new\"").on(.every), Fault.ignoreConditions.on(.nth(2))) { _, client in
      let condition = "If-Match: \"5-30d40\""
      #expect(try client.request("/f", [field, condition]).status == 412)
      let mixed = try client.request("/f", [field, condition])
      #expect(mixed.status == 206 && mixed["ETag"] == "\"new\"")
    }
  }

  @Test("wrong bytes are wrong exactly where told")
  func wrongBytes() throws {
    try facing(Fault.wrongBytes(50_010..<50_020).on(.every)) { origin, client in
      let response = try client.request("/f", [field])
      let right = content.bytes(in: range)
      #expect(response.body.indices.filter { response.body[$0] != right[$0] } == Array(10..<20))
      #expect(try client.request("/f", ["Range: bytes=0-99"]).body == content.bytes(in: 0..<100))
      #expect(origin.waitUntilIdle())
      #expect(origin.requests()[0].sentRange == range)
    }
  }

  @Test("extra bytes follow the declared length, then the connection closes")
  func extraBytes() throws {
    try facing(Fault.extraBytes(9).on(.every)) { _, client in
      let response = try client.request("/f", [field])
      #expect(response.body == content.bytes(in: range))
      #expect(client.readToEnd() == content.bytes(in: 60_000..<60_009))
      #expect(client.end == .closed)
    }
  }

  @Test("unknown lengths arrive whole", arguments: [Fault.noContentLengthClose, .chunked])
  func framing(fault: Fault) throws {
    try facing(fault.on(.every)) { _, client in
      let response = try client.request("/f", [field])
      #expect(response["Content-Length"] == nil && response["Content-Range"] != nil)
      #expect(response.body == content.bytes(in: range))
    }
  }

  @Test("a wrong Content-Length stands over the right body, which the close ends", arguments: [-1, 0, 5])
  func contentLength(by distance: Int) throws {
    try facing(Fault.wrongContentLength(by: distance).on(.every)) { _, client in
      client.ask("/f", [field])
      let head = try client.head()
      #expect(head.status == 206 && head["Content-Length"] == "\(10_000 + distance)")
      #expect(client.readToEnd() == content.bytes(in: range) && client.end == .closed)
    }
  }

  @Test("HTTP/1.0 has no length and ends with its connection")
  func http10() throws {
    try facing(Fault.http10.on(.every)) { _, client in
      client.ask("/f", [field])
      let bytes = client.readToEnd()
      let text = String(decoding: bytes.prefix(400), as: UTF8.self)
      #expect(text.hasPrefix("HTTP/1.0 206 ") && !text.contains("Content-Length"))
      #expect(bytes.suffix(10_000).elementsEqual(content.bytes(in: range)) && client.end == .closed)
    }
  }

  @Test("raw bytes replace the response, a preamble comes before it")
  func raw() throws {
    let early = "HTTP/1.1 103 Early Hints\r\n\r\n"
    try facing(
      Fault.preamble(Array(early.utf8)).on(.nth(1)),
      Fault.rawResponse(Array("SSH-2.0-x\r\n".utf8)).on(.nth(2))
    ) { origin, client in
      client.ask("/f", [field])
      let early = try client.head()
      #expect(early.status == 103)
      #expect(try client.response().body == content.bytes(in: range))
      client.ask("/f", [field])
      #expect(client.readToEnd() == Array("SSH-2.0-x\r\n".utf8) && client.end == .closed)
      #expect(origin.waitUntilIdle())
      #expect(origin.requests()[1].status == nil)
    }
  }

  @Test(
    "a rule meets the requests that it names",
    arguments: [
      (RequestMatch.every, [1, 2, 3, 4]), (.nth(2), [2]), (.sinceNth(3), [3, 4]), (.everyNth(2), [2, 4]),
      (.rangeStarts(at: 10), [2]),
      (.rangeStartsFrom(10), [2, 3]), (.rangeContains(15), [2]), (.withRange, [1, 2, 3]),
      (.withoutRange, [4]),
      (.withHeader("x-a"), [3]), (.targetContains("k=1"), [4]), (.connection(1), [1, 2, 3, 4]),
      (.connection(2), []), (.not(.withRange), [4]), (.all([.withRange, .sinceNth(2)]), [2, 3]),
      (.custom { $0.fields["X-A"] == "1" }, [3]),
    ])
  func matching(match: RequestMatch, met: [Int]) throws {
    try facing(Fault.status(500).on(match)) { _, client in
      let answers = try [
        client.request("/f", ["Range: bytes=0-9"]), client.request("/f", ["Range: bytes=10-19"]),
        client.request("/f", ["Range: bytes=-5", "X-A: 1"]), client.request("/f?k=1"),
      ]
      #expect((1...4).filter { answers[$0 - 1].status == 500 } == met)
    }
  }

  @Test("a rule with a number of times wears out")
  func times() throws {
    try facing(Fault.status(503).on(.withRange, times: 2)) { _, client in
      let statuses = try (0..<4).map { _ in try client.request("/f", [field]).status }
      #expect(statuses == [503, 503, 206, 206])
    }
  }
}
