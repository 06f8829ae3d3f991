// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

@Suite("ResponseHead")
struct ResponseHeadTests {
  @Test(
    "a status line",
    arguments: [
      ("HTTP/1.1 206 Partial Content\r\n", 206, 1, "Partial Content"),
      ("HTTP/1.0 200 OK\r\n", 200, 0, "OK"),
      ("HTTP/1.1 200\r\n", 200, 1, ""),
      ("HTTP/1.1 200 \r\n", 200, 1, ""),
      ("HTTP/2 206 \r\n", 206, 1, ""),
      ("HTTP/2 206", 206, 1, ""),
      ("HTTP/2.0 404 x", 404, 1, "x"),
      ("HTTP/3 503", 503, 1, ""),
      ("HTTP/1.1 999 \u{1B}[31m", 999, 1, "\u{1B}[31m"),
    ])
  func statusLines(_ line: String, _ status: Int, _ minor: Int, _ reason: String) {
    let expected = ResponseHead(status: status, minorVersion: minor, reason: reason)
    #expect(ResponseHead(statusLine: line) == expected)
    #expect(ResponseHead(statusLine: line.utf8) == expected)
  }

  @Test(
    "no status line",
    arguments: [
      "", "\r\n", "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 20", "HTTP/1.1 2000", "HTTP/1.1 099", "HTTP/1.1 2x0",
      "HTTP/1.1 -20", "HTTP/1.1  200", "http/1.1 200", "ICY 200 OK", "HTTP/ 200", "HTTP/a 200",
      "HTTP/1.1.1 200",
      "HTTP/11 200", "HTTP/1. 200", "ETag: \"x\"",
    ])
  func noStatusLine(_ line: String) {
    #expect(ResponseHead(statusLine: line) == nil)
  }

  @Test(
    "Content-Length",
    arguments: [
      ([], .absent),
      (["0"], .exact(0)),
      (["12345"], .exact(12345)),
      (["007"], .exact(7)),
      (["9223372036854775807"], .exact(Int.max)),
      (["5", "5"], .exact(5)),
      (["5, 5"], .exact(5)),
      (["5, 6"], .invalid),
      (["5", "6"], .invalid),
      (["9223372036854775808"], .invalid),
      (["18446744073709551617"], .invalid),
      (["-1"], .invalid),
      (["+1"], .invalid),
      ([""], .invalid),
      (["5,"], .invalid),
      (["1e3"], .invalid),
      (["0x10"], .invalid),
      (["1 2"], .invalid),
      (["\u{0661}"], .invalid),
    ] as [([String], ContentLength)])
  func contentLength(_ values: [String], _ expected: ContentLength) {
    #expect(head(values.map { ("content-length", $0) }).contentLength == expected)
  }

  @Test(
    "chunked is the last transfer coding or it is not",
    arguments: [
      ([], false), (["chunked"], true), (["Chunked"], true), (["gzip, chunked"], true),
      (["gzip", "chunked"], true), (["chunked, gzip"], false), (["identity"], false), ([""], false),
      (["xchunked"], false),
    ] as [([String], Bool)])
  func chunked(_ values: [String], _ expected: Bool) {
    #expect(head(values.map { ("Transfer-Encoding", $0) }).isChunked == expected)
  }

  @Test(
    "Content-Encoding",
    arguments: [
      ([], nil), ([""], nil), (["identity"], nil), (["Identity"], nil), (["GZIP"], "gzip"),
      (["identity, br"], "br"), (["gzip", "br"], "gzip, br"),
    ] as [([String], String?)])
  func contentEncoding(_ values: [String], _ expected: String?) {
    #expect(head(values.map { ("Content-Encoding", $0) }).contentEncoding == expected)
  }

  @Test(
    "media type",
    arguments: [
      (nil, nil), ("", nil), (";charset=x", nil), ("Text/HTML; charset=utf-8", "text/html"),
      ("multipart/byteranges ;boundary=x", "multipart/byteranges"),
      ("application/x-iso", "application/x-iso"),
    ] as [(String?, String?)])
  func mediaType(_ value: String?, _ expected: String?) {
    #expect(head(value.map { [("Content-Type", $0)] } ?? []).mediaType == expected)
  }
}

/// A 200 with these fields.
func head(_ fields: [(String, String)]) -> ResponseHead {
  var headers = HeaderBlock()
  for (name, value) in fields { headers.append(name: name, value: value) }
  return ResponseHead(status: 200, headers: headers)
}
