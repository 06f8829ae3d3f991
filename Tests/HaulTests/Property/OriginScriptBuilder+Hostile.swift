// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport

/// What no server should do.
extension OriginScriptBuilder {
  mutating func hostility() {
    let group = Int.random(in: 0..<5, using: &dice)
    let named: Named
    switch group {
    case 0: named = pick(ranges)
    case 1: named = pick(framings)
    case 2: named = files.count == 1 ? pick(validators) : pick(ranges)
    case 3: named = pick(answers)
    default:
      named = ("a page", .instead(.page(Self.page)))
      page = Self.page
    }
    let (match, shown) = occasion()
    add(named, on: match, shown)
  }

  private mutating func occasion() -> (RequestMatch, String) {
    let number = Int.random(in: 1...5, using: &dice)
    return pick([
      (.every, "always"), (.nth(number), "at request \(number)"),
      (.sinceNth(number), "from request \(number) on"),
      (.everyNth(number), "at every request number \(number)"),
      (.rangeStartsFrom(number << 19), "for ranges from \(number << 19) on"),
      (.withRange, "for ranges"), (.connection(number), "on connection \(number)"),
    ])
  }

  private var ranges: [Named] {
    [
      ("range ignored", .ignoreRange), ("another range", .shiftedContentRange(by: 1000)),
      ("an earlier range", .shiftedContentRange(by: -1000)),
      ("a wider range", .widerRange(before: 7, after: 9999)),
      ("no Content-Range", .missingContentRange), ("no total", .wrongTotal(nil)),
      ("a longer total", .wrongTotal(files[0].length + 20_000_000)),
      ("other units", .contentRange(after: "items ")), ("backwards", .contentRanges("bytes 9-3/10")),
      ("beyond any number", .contentRanges("bytes 0-9/18446744073709551616")),
      ("two Content-Ranges", .contentRanges("bytes 0-9/10", "bytes 5-9/10")), ("multipart", .multipart),
      ("416", .rawResponse(Self.raw("416 No", "Content-Range: bytes */\(files[0].length)\r\n"))),
      ("416 without a length", .status(416)),
    ]
  }

  private var framings: [Named] {
    [
      ("more than announced", .extraBytes(1000)), ("no length", .noContentLengthClose), ("HTTP/1.0", .http10),
      ("a longer length", .wrongContentLength(by: 1000)), ("no number as length", .contentLengths("x")),
      ("a negative length", .contentLengths("-1")), ("two lengths", .contentLengths("5", "6")),
      ("a length beyond any number", .contentLengths("99999999999999999999")), ("gzip", .contentEncodingGzip),
      ("cut", .closeAfter(files[0].length / 3)),
    ]
  }

  private var validators: [Named] {
    [
      ("a new tag each time", .freshETag), ("another tag", .changedETag("\"x\"")), ("no tag", .missingETag),
      ("no date", .missingLastModified), ("a broken tag", .changedETag("\"a\" b")),
      ("another date", .header("Last-Modified", "yesterday")),
    ]
  }

  private var answers: [Named] {
    let flood = (0..<400).map { "X-\($0): y\r\n" }.joined()
    return [
      ("403", .status(403)), ("404", .status(404)), ("412", .status(412)), ("204", .status(204)),
      ("304", .status(304)),
      ("503", .status(503, retryAfter: "0")), ("666", .status(666)),
      ("a loop", .redirect(to: "/f")), ("a redirect to ftp", .redirect(to: "ftp://127.0.0.1/")),
      ("a redirect to nowhere", .redirect(to: "http://")),
      ("a flood of fields", .rawResponse(Self.raw("206 Partial Content", flood))),
      ("no HTTP", .rawResponse(Array("hello\r\n\r\n".utf8))), ("nothing", .rawResponse([])),
      ("half a head", .rawResponse(Array("HTTP/1.1 206 Partial Content\r\nContent-Ra".utf8))),
      ("a NUL in a field", .rawResponse(Self.raw("206 P", "Content-Range: bytes 0-0/\u{0}1\r\n"))),
      ("silence", .stallAfter(0)),
    ]
  }

  private static func raw(_ status: String, _ fields: String) -> [UInt8] {
    Array("HTTP/1.1 \(status)\r\n\(fields)Content-Length: 0\r\n\r\n".utf8)
  }

  /// What only a digest can find.
  mutating func lie() {
    let length = files[0].length
    var other = resource
    other.content = .reference(ReferenceContent(seed: dice.next(), length: length))
    let named: Named = pick([
      ("wrong bytes", .wrongBytes(0..<max(1, length))),
      ("a wrong byte", .wrongBytes(length / 2..<length / 2 + 1)),
      ("bytes of another place", .shiftedBody(by: 1)), ("a shorter total", .wrongTotal(length / 2 + 1)),
      ("a shorter length", .wrongContentLength(by: -1)), ("a part as the whole", .partAsWhole),
      ("another file under the same validators", .instead(other)),
    ])
    let (match, shown) = occasion()
    add(named, on: match, shown)
  }
}
