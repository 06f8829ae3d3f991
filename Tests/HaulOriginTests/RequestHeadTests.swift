// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HaulOrigin

struct RequestHeadTests {
  private func parse(_ text: String) throws -> RequestHead { try RequestHead.parse(Array(text.utf8)) }

  @Test("method, target and fields are kept as received")
  func plain() throws {
    let head = try parse("GET /a?b=c HTTP/1.1\r\nHost: x\r\nRange:  bytes=1-2 \r\n\r\n")
    #expect(head.method == "GET" && head.target == "/a?b=c" && head.path == "/a")
    #expect(head.fields == [HeaderField("Host", "x"), HeaderField("Range", "bytes=1-2")])
    #expect(head.range == .closed(1, 2) && head.keepsAlive && !head.hasBody)
  }

  @Test(
    "connection persistence by version and option",
    arguments: [
      ("GET / HTTP/1.1\r\n", true), ("GET / HTTP/1.0\r\n", false),
      ("GET / HTTP/1.1\r\nConnection: close\r\n", false),
      ("GET / HTTP/1.0\r\nconnection: Keep-Alive\r\n", true),
    ])
  func persistence(text: String, keeps: Bool) throws { #expect(try parse(text).keepsAlive == keeps) }

  @Test(
    "a head that is none is refused",
    arguments: [
      ("", RequestHead.Refusal.malformed), ("GET\r\n", .malformed), ("GET /\r\n", .malformed),
      ("GET / HTTP/2\r\n", .version), ("GET / HTTP/1.1\r\nno colon\r\n", .malformed),
      ("GET / HTTP/1.1\r\n: x\r\n", .malformed), ("GET / HTTP/1.1\r\nA b: x\r\n", .malformed),
      ("\u{16}\u{3}\u{1}", .malformed),
    ])
  func refused(text: String, refusal: RequestHead.Refusal) {
    #expect(throws: refusal) { try parse(text) }
  }

  @Test("the absolute form names the same path")
  func absolute() throws {
    #expect(try parse("GET http://h:1/a/b?c HTTP/1.1\r\n").path == "/a/b")
    #expect(try parse("GET http://h:1 HTTP/1.1\r\n").path == "/")
  }

  @Test(
    "a Range field is one range or nothing",
    arguments: [
      ("bytes=0-0", RangeRequest.closed(0, 0)), ("bytes=5-", .from(5)), ("bytes=-7", .suffix(7)),
      ("Bytes= 1 - 2 ", .closed(1, 2)), ("bytes=", nil), ("bytes=-", nil), ("bytes=2-1", nil),
      ("bytes=0-1,3-4", nil), ("bytes=+1-2", nil), ("items=0-1", nil),
      ("bytes=99999999999999999999-", nil),
    ] as [(String, RangeRequest?)])
  func ranges(field: String, range: RangeRequest?) { #expect(RangeRequest(field) == range) }

  @Test(
    "a range is cut to the content or unsatisfiable",
    arguments: [
      (RangeRequest.closed(0, 0), 0..<1), (.closed(9, 99), 9..<10), (.closed(10, 10), nil),
      (.from(3), 3..<10),
      (.from(10), nil), (.suffix(4), 6..<10), (.suffix(40), 0..<10), (.suffix(0), nil),
      (.closed(0, .max), 0..<10),
    ] as [(RangeRequest, Range<Int>?)])
  func resolution(request: RangeRequest, range: Range<Int>?) {
    #expect(request.resolved(length: 10) == range)
  }

  @Test("the end of a head is found with CRLF and with LF, and only when it is there")
  func headEnd() {
    func end(_ text: String) -> Int? { HeadReader.endOfHead(Array(text.utf8), from: 0) }
    #expect(end("a\r\n\r\nb") == 5)
    #expect(end("a\n\nb") == 3)
    #expect(end("a\r\n\r") == nil)
    #expect(end("a\r\nb\r\n") == nil)
  }

  @Test(
    "dates go there and back",
    arguments: [
      (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
      (951_827_696, "Tue, 29 Feb 2000 12:34:56 GMT"), (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
    ])
  func dates(seconds: Int, text: String) {
    #expect(HTTPDate.text(seconds) == text)
    #expect(HTTPDate.seconds(text) == seconds)
  }

  @Test(
    "what is no date is none",
    arguments: [
      "", "yesterday", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49 GMT",
      "Sun, 06 Foo 1994 08:49:37 GMT",
    ])
  func noDates(text: String) { #expect(HTTPDate.seconds(text) == nil) }
}
