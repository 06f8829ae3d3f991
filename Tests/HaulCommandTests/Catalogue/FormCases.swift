// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

private let length = CatalogueCase.length

/// Case 119 by hand: forms that HTTP allows end with the file, others with the file or an error. The property
/// tests make up more of them.
extension Catalogue {
  static let forms: [CatalogueCase] = written + spelled + endings + hops

  /// What a whole answer may look like on the wire. The file has 1000 bytes.
  private static let written: [CatalogueCase] = [
    wire("lf", "line feeds alone", .either, "HTTP/1.1 200 OK\nContent-Length: 1000\n\n", body),
    wire("reason", "no reason phrase", .file, "HTTP/1.1 200\r\nContent-Length: 1000\r\n\r\n", body),
    wire(
      "case", "names in any case", .file,
      "HTTP/1.1 206 x\r\ncONTENT-rANGE: BYTES 0-999/1000\r\ncontent-length:1000\r\n\r\n", body),
    wire(
      "tabs", "blanks around values", .file,
      "HTTP/1.1 206 x\r\nContent-Range: \t bytes 0-999/1000 \t\r\nContent-Length: \t1000 \r\n\r\n", body),
    wire(
      "zeros", "leading zeros", .file,
      "HTTP/1.1 206 x\r\nContent-Range: bytes 00-0999/01000\r\nContent-Length: 01000\r\n\r\n", body),
    wire(
      "fold", "a folded field", .either,
      "HTTP/1.1 206 x\r\nContent-Range: bytes\r\n 0-999/1000\r\nContent-Length: 1000\r\n\r\n", body),
    wire(
      "colon", "a blank before the colon", .either,
      "HTTP/1.1 206 x\r\nContent-Range : bytes 0-999/1000\r\nContent-Length : 1000\r\n\r\n", body),
    wire(
      "same", "one length, told twice", .either,
      "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nContent-Length: 1000\r\n\r\n", body),
    wire(
      "list", "one length, as a list", .either, "HTTP/1.1 200 OK\r\nContent-Length: 1000, 1000\r\n\r\n", body),
    wire("plus", "a length with a sign", .either, "HTTP/1.1 200 OK\r\nContent-Length: +1000\r\n\r\n", body),
    wire(
      "short", "less than announced", .error(10, 17), "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n", body),
    wire(
      "long", "more than announced", .either, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", body + body),
    wire("bare", "bytes without a head", .error(10, 17), "", body),
    wire(
      "icy", "another protocol's status line", .error(10, 17), "ICY 200 OK\r\nContent-Length: 1000\r\n\r\n",
      body),
    wire(
      "http2", "a version that nobody asked for", .either, "HTTP/2 200\r\nContent-Length: 1000\r\n\r\n", body),
    wire(
      "http3", "a version that is none", .error(10, 17), "HTTP/9.9 200 OK\r\nContent-Length: 1000\r\n\r\n",
      body),
    wire("none", "a head without fields", .error(17), "HTTP/1.1 200 OK\r\n\r\n", body),
    wire("nothing", "no answer at all", .error(10, 17), "", []),
    wire("half", "half a head", .error(10, 17), "HTTP/1.1 200 OK\r\nContent-Len", []),
    wire(
      "1xx", "a hundred times 100", .file,
      String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 100)
        + "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", body),
    wire(
      "101", "another protocol from here on", .error(10, 17),
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", body),
  ]

  /// Chunks of the same 1000 bytes.
  private static let endings: [CatalogueCase] = [
    chunks(
      "chunk", "one chunk, upper case, extension, trailer", .file, "3E8;a=\"b\"",
      "\r\n0\r\nX-Trailer: 1\r\nContent-Range: bytes 5-9/10\r\n\r\n"),
    chunks("chunk-zeros", "a size of many digits", .file, "00000000003e8", "\r\n0\r\n\r\n"),
    chunks("chunk-cut", "no last chunk", .error(10, 17), "3e8", "\r\n"),
    chunks("chunk-over", "a size beyond 64 bits", .error(10, 17), "100000000000003e8", "\r\n0\r\n\r\n"),
    chunks("chunk-negative", "a negative size", .error(10, 17), "-3e8", "\r\n0\r\n\r\n"),
    chunks("chunk-word", "a size that is no number", .error(10, 17), "xyz", "\r\n0\r\n\r\n"),
    chunks("chunk-long", "a size larger than what comes", .error(10, 17), "3ea", "\r\n0\r\n\r\n"),
    chunks("chunk-short", "a size smaller than what comes", .error(10, 17), "3e7", "\r\n0\r\n\r\n"),
    chunks("chunk-trailer", "a trailer without an end", .error(10, 17), "3e8", "\r\n0\r\nX-Trailer: 1\r\n"),
    chunks(
      "chunk-gzip", "gzip as a transfer coding", .error(10, 17), "3e8", "\r\n0\r\n\r\n",
      coding: "gzip, chunked"),
    chunks(
      "chunk-unknown", "an unknown transfer coding", .error(10, 17), "3e8", "\r\n0\r\n\r\n", coding: "rot13"),
  ]

  private static let spelled: [CatalogueCase] =
    [
      CatalogueCase(
        "119-identity", "a coding that is none", .file,
        [Fault.header("Content-Encoding", "identity").on(.every)]),
      CatalogueCase(
        "119-unknown", "a coding that nobody knows", .error(17),
        [Fault.header("Content-Encoding", "zap").on(.every)]),
      CatalogueCase("119-chunked", "parts in chunks", .file, [Fault.chunked.on(.every)]),
      CatalogueCase("119-closed", "a connection for each request", .file) {
        $0.configuration.requestsPerConnection = 1
      },
      CatalogueCase(
        "119-kept", "connections that end after three requests", .file, [Fault.shortRange(200_000).on(.every)]
      ) {
        $0.configuration.requestsPerConnection = 3
      },
      CatalogueCase(
        "119-extra", "more bytes than announced, always", .file, [Fault.extraBytes(1000).on(.every)]),
      CatalogueCase(
        "119-growing", "a file that grows with every request", .either,
        (1...200).map { Fault.instead(.reference(seed: 1, length: length + 1000 * $0)).on(.nth($0)) }
      ) {
        $0.contents = (1...200).map { ReferenceContent(seed: 1, length: length + 1000 * $0) }
      },
      CatalogueCase("119-500", "500 to every third request", .file, [Fault.status(500).on(.everyNth(3))]),
      CatalogueCase(
        "119-garbage", "garbage to every third request", .either,
        [Fault.rawResponse(Array("\0\u{1}SSH-2.0".utf8)).on(.everyNth(3))]),
      CatalogueCase(
        "119-empty", "nothing to every third request", .file, [Fault.rawResponse([]).on(.everyNth(3))]),
      CatalogueCase("119-one", "a byte at a time", .file, [Fault.shortRange(1).on(.every)]) {
        $0.resource = .reference(seed: 1, length: 50, faults: $0.resource.faults)
        $0.contents = [ReferenceContent(seed: 1, length: 50)]
      },
    ]
    + [201, 202, 203, 204, 205, 206, 207, 226, 300, 304, 400, 402, 405, 412, 416, 418, 451].map {
      status in
      CatalogueCase("119-\(status)", "status \(status)", .error(11, 17), [Fault.status(status).on(.every)])
    }

  private static let hops: [CatalogueCase] =
    [301, 302, 303, 307, 308].map { status in
      CatalogueCase("119-to-\(status)", "\(status) at every request", .file) {
        $0.resource = .redirect(to: "to/../g?x#y", status: status)
        $0.others["/to/../g"] = .reference(seed: 1, length: length)
        $0.others["/g"] = .reference(seed: 1, length: length)
      }
    }
    + ["/f", "", "ftp://127.0.0.1/f", "file:///etc/passwd", "//", "http://", "http://127.0.0.1:99999/f"].map {
      location in
      CatalogueCase("119-to-\(location)", "a redirect to '\(location)'", .error(10, 17)) {
        $0.resource = .redirect(to: location)
        $0.check = { #expect($0.requests.count < 40) }
      }
    }

  private static let small = ReferenceContent(seed: 1, length: 1000)
  private static let body: [UInt8] = small.bytes(in: 0..<1000)

  /// These bytes to every request, then the end of the connection.
  private static func wire(
    _ id: String, _ title: String, _ expected: CatalogueCase.Outcome, _ head: String, _ body: [UInt8]
  ) -> CatalogueCase {
    CatalogueCase("119-" + id, title, expected, [Fault.rawResponse(Array(head.utf8) + body).on(.every)]) {
      $0.contents = [small]
      $0.arguments = ["--retries", "1"]
    }
  }

  private static func chunks(
    _ id: String, _ title: String, _ expected: CatalogueCase.Outcome, _ size: String, _ end: String,
    coding: String = "chunked"
  ) -> CatalogueCase {
    wire(
      id, title, expected, "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\n\r\n\(size)\r\n",
      body + Array(end.utf8))
  }
}
