// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

/// One row of the decision table.
private struct Row: Sendable, CustomTestStringConvertible {
  let name: String
  var asked: ByteRange? = ByteRange(100, 200)
  var known: Identity? = Row.tagged
  var stored: Int?
  var acceptsWhole = false
  var isConditional = false
  var ignoresTags = false
  var refusesPages = false
  let head: ResponseHead
  let verdict: ResponseVerdict

  var testDescription: String { name }

  static let tagged = Identity(
    length: 1000, etag: EntityTag("\"a\""), lastModified: nil, lastModifiedIsStrong: false)
  static let unmarked = Identity(length: 1000, etag: nil, lastModified: nil, lastModifiedIsStrong: false)
}

@Suite("ResponseVerdict")
struct ResponseVerdictTests {
  @Test("parts that are taken", arguments: taken)
  fileprivate func takes(_ row: Row) { check(row) }

  @Test("parts that are not what was asked for", arguments: brokenParts)
  fileprivate func refusesParts(_ row: Row) { checkBroken(row) }

  @Test("another generation", arguments: changed)
  fileprivate func sees(_ row: Row) { check(row) }

  @Test("the whole file", arguments: whole)
  fileprivate func wholes(_ row: Row) { check(row) }

  @Test("the whole file where it does not help, or not plainly", arguments: brokenWhole)
  fileprivate func refusesWhole(_ row: Row) { checkBroken(row) }

  @Test("no range to be had", arguments: unsatisfied)
  fileprivate func noRange(_ row: Row) { check(row) }

  @Test("no range to be had, and no sense in it", arguments: brokenUnsatisfied)
  fileprivate func nonsense(_ row: Row) { checkBroken(row) }

  @Test("redirects", arguments: [301, 302, 303, 307, 308])
  func redirect(_ status: Int) {
    let there = Row(
      name: "there", head: response(status, [("Location", "/x")]), verdict: .redirect(location: "/x"))
    check(there)
    checkBroken(Row(name: "nowhere", head: response(status), verdict: .broken("")))
    checkBroken(Row(name: "empty", head: response(status, [("Location", "")]), verdict: .broken("")))
  }

  @Test(
    "later, or fewer at a time",
    arguments: [408, 425, 429, 500, 502, 503, 504, 507, 509, 520, 521, 522, 523, 524, 525, 526, 527],
    [(nil, nil), ("7", 7), ("Thu, 01 Jan 1970 00:01:05 GMT", 60), ("soon", nil)] as [(String?, Int?)])
  func limited(_ status: Int, _ wait: (field: String?, seconds: Int?)) {
    let fields = wait.field.map { [("Retry-After", $0)] } ?? []
    check(
      Row(
        name: "limited", head: response(status, fields),
        verdict: .limited(status: status, retryAfter: wait.seconds)))
  }

  @Test("no", arguments: [400, 401, 402, 403, 404, 405, 406, 407, 410, 412, 451, 501, 505, 511, 528, 599])
  func refused(_ status: Int) {
    check(Row(name: "refused", head: response(status), verdict: .refused(status: status)))
  }

  @Test(
    "answers to other questions",
    arguments: [100, 101, 201, 202, 203, 204, 205, 207, 300, 304, 305, 600, 999])
  func foreign(_ status: Int) {
    checkBroken(Row(name: "foreign", acceptsWhole: true, head: response(status), verdict: .broken("")))
  }

  private func verdict(_ row: Row) -> ResponseVerdict {
    var expectation = Expectation(
      asked: row.asked, known: row.known, storedLength: row.stored, acceptsWhole: row.acceptsWhole, now: 5)
    expectation.isConditional = row.isConditional
    expectation.ignoresTags = row.ignoresTags
    expectation.refusesPages = row.refusesPages
    return expectation.judge(row.head)
  }

  @Test("a condition that failed is one only where a condition was sent")
  func conditionFailed() {
    check(Row(name: "sent", isConditional: true, head: response(412), verdict: .conditionFailed))
    check(Row(name: "not sent", head: response(412), verdict: .refused(status: 412)))
  }

  @Test("a tag that says nothing is no change, another length or date still is")
  func ignoresTags() {
    let monday = "Mon, 07 Nov 1994 08:49:37 GMT"
    let known = Identity(length: 1000, etag: nil, lastModified: monday, lastModifiedIsStrong: true)
    func row(_ date: String?, total: Int, _ verdict: ResponseVerdict) -> Row {
      let fields = [("Last-Modified", date)].compactMap { name, value in value.map { (name, $0) } }
      return Row(
        name: "x", known: known, ignoresTags: true,
        head: partial("bytes 100-199/\(total)", length: "100", fields), verdict: verdict)
    }
    check(row(monday, total: 1000, exact))
    check(row(monday, total: 1001, .changed(.length(was: 1000, is: 1001))))
    check(row(nil, total: 1000, .changed(.lastModified(was: monday, is: nil))))
  }

  @Test("a page whole where the file is none is refused before it is taken for another version")
  func pages() {
    checkBroken(
      Row(
        name: "login", acceptsWhole: true, refusesPages: true,
        head: response(200, [("Content-Type", "text/html"), ("Content-Length", "77")]), verdict: .broken("")))
  }

  @Test("a length that no file can have is no matter of trying again", arguments: [(1 << 62) + 1, Int.max])
  func boundless(length: Int) {
    let heads = [
      partial("bytes 100-199/\(length)", length: "100"), response(200, [("Content-Length", "\(length)")]),
      response(416, [("Content-Range", "bytes */\(length)")]),
    ]
    for head in heads {
      let row = Row(name: "", known: nil, acceptsWhole: true, head: head, verdict: .boundless(""))
      guard case .boundless(let reason) = verdict(row) else {
        Issue.record("\(head)")
        continue
      }
      #expect(reason.contains("4.61 EB"))
    }
  }

  private func check(_ row: Row) { #expect(verdict(row) == row.verdict) }

  private func checkBroken(_ row: Row) {
    guard case .broken(let reason) = verdict(row) else {
      Issue.record("\(row.name): \(verdict(row))")
      return
    }
    #expect(!reason.isEmpty)
  }
}

// MARK: Rows

/// A 206 with the tag of the known generation.
private func partial(_ range: String?, length: String?, _ more: [(String, String)] = []) -> ResponseHead {
  let fields = [("Content-Range", range), ("Content-Length", length)].compactMap { name, value in
    value.map { (name, $0) }
  }
  return response(206, fields + [("ETag", "\"a\"")] + more)
}

private let exact = ResponseVerdict.partial(ByteRange(100, 200), total: 1000)

private let taken: [Row] = [
  Row(name: "exact", head: partial("bytes 100-199/1000", length: "100"), verdict: exact),
  Row(name: "first answer", known: nil, head: partial("bytes 100-199/1000", length: "100"), verdict: exact),
  Row(name: "form without a space", head: partial("bytes=100-199/1000", length: "100"), verdict: exact),
  Row(
    name: "the same Content-Range twice",
    head: partial("bytes 100-199/1000", length: "100", [("Content-Range", "bytes 100-199/1000")]),
    verdict: exact),
  Row(
    name: "the same Content-Length twice", head: partial("bytes 100-199/1000", length: "100, 100"),
    verdict: exact),
  Row(
    name: "coding identity",
    head: partial("bytes 100-199/1000", length: "100", [("Content-Encoding", "identity")]), verdict: exact),
  Row(
    name: "chunked", head: partial("bytes 100-199/1000", length: nil, [("Transfer-Encoding", "chunked")]),
    verdict: exact),
  Row(
    name: "chunked, whose Content-Length does not count",
    head: partial("bytes 100-199/1000", length: "7", [("Transfer-Encoding", "chunked")]), verdict: exact),
  Row(
    name: "shorter", head: partial("bytes 100-149/1000", length: "50"),
    verdict: .partial(ByteRange(100, 150), total: 1000)),
  Row(
    name: "one byte", head: partial("bytes 100-100/1000", length: "1"),
    verdict: .partial(ByteRange(100, 101), total: 1000)),
  Row(
    name: "begins before", head: partial("bytes 0-199/1000", length: "200"),
    verdict: .partial(ByteRange(100, 200), total: 1000, overlap: 100)),
  Row(
    name: "begins before and ends before", head: partial("bytes 99-198/1000", length: "100"),
    verdict: .partial(ByteRange(100, 199), total: 1000, overlap: 1)),
  Row(
    name: "a page where the file is one",
    head: partial("bytes 100-199/1000", length: "100", [("Content-Type", "text/html")]), verdict: exact),
  Row(
    name: "longer, of which only what was asked for counts",
    head: partial("bytes 100-999/1000", length: "900"), verdict: exact),
  Row(
    name: "first answer of a file shorter than the range", asked: ByteRange(0, 4096), known: nil,
    head: partial("bytes 0-9/10", length: "10"), verdict: .partial(ByteRange(0, 10), total: 10)),
  Row(
    name: "total left out, known from an earlier answer",
    head: partial("bytes 100-199/*", length: "100"), verdict: exact),
  Row(
    name: "total left out, known from an earlier run", known: nil, stored: 1000,
    head: partial("bytes 100-199/*", length: "100"), verdict: exact),
  Row(
    name: "HTTP/1.0 with a length",
    head: response(
      206, [("Content-Range", "bytes 100-199/1000"), ("Content-Length", "100"), ("ETag", "\"a\"")], minor: 0),
    verdict: exact),
  Row(
    name: "the longest file", known: nil, head: partial("bytes 100-199/\(1 << 62)", length: "100"),
    verdict: .partial(ByteRange(100, 200), total: 1 << 62)),
  Row(
    name: "no validators from first to last", known: Row.unmarked,
    head: response(206, [("Content-Range", "bytes 100-199/1000"), ("Content-Length", "100")]),
    verdict: exact),
]

private let brokenParts: [Row] =
  [
    ("no Content-Range", partial(nil, length: "100")),
    (
      "two Content-Ranges",
      partial("bytes 100-199/1000", length: "100", [("Content-Range", "bytes 0-99/1000")])
    ),
    (
      "several parts",
      partial("bytes 100-199/1000", length: "100", [("Content-Type", "multipart/byteranges; boundary=x")])
    ),
    ("encoded", partial("bytes 100-199/1000", length: "100", [("Content-Encoding", "gzip")])),
    (
      "encoded on its way",
      partial("bytes 100-199/1000", length: nil, [("Transfer-Encoding", "GZip, chunked")])
    ),
    ("begins and ends before", partial("bytes 0-99/1000", length: "100")),
    ("begins behind", partial("bytes 101-199/1000", length: "99")),
    ("ends before it begins", partial("bytes 100-99/1000", length: "0")),
    ("ends at the total", partial("bytes 100-1000/1000", length: "901")),
    ("ends behind a known total", partial("bytes 100-1000/*", length: "901")),
    ("another unit", partial("items 100-199/1000", length: "100")),
    ("no numbers", partial("bytes a-b/1000", length: "100")),
    ("the form of a 416", partial("bytes */1000", length: "100")),
    ("a total of 0", partial("bytes */0", length: "0")),
    ("Content-Length too small", partial("bytes 100-199/1000", length: "99")),
    ("Content-Length too large", partial("bytes 100-199/1000", length: "1000")),
    ("Content-Length twice", partial("bytes 100-199/1000", length: "100, 101")),
    ("Content-Length no number", partial("bytes 100-199/1000", length: "-100")),
    ("no end", partial("bytes 100-199/1000", length: nil)),
    (
      "no end, chunked not last",
      partial("bytes 100-199/1000", length: nil, [("Transfer-Encoding", "chunked, gzip")])
    ),
  ].map { (row: (String, ResponseHead)) in Row(name: row.0, head: row.1, verdict: .broken("")) }
  + [
    Row(
      name: "begins too far before", asked: ByteRange(2 << 20, 3 << 20), known: nil,
      head: response(
        206, [("Content-Range", "bytes 0-\((3 << 20) - 1)/\(3 << 20)"), ("Content-Length", "\(3 << 20)")]),
      verdict: .broken("")),
    Row(
      name: "a page where the file is none", refusesPages: true,
      head: partial("bytes 100-199/1000", length: "100", [("Content-Type", "Text/HTML; charset=x")]),
      verdict: .broken("")),
    Row(
      name: "no range was asked for", asked: nil, head: partial("bytes 100-199/1000", length: "100"),
      verdict: .broken("")),
    Row(
      name: "total left out and not known", known: nil, head: partial("bytes 100-199/*", length: "100"),
      verdict: .broken("")),
  ]

private let changed: [Row] = [
  Row(
    name: "another total", head: partial("bytes 100-199/1001", length: "100"),
    verdict: .changed(.length(was: 1000, is: 1001))),
  Row(
    name: "another total than an earlier run stored", known: nil, stored: 1000,
    head: partial("bytes 100-199/1001", length: "100"), verdict: .changed(.length(was: 1000, is: 1001))),
  Row(
    name: "another tag",
    head: response(
      206, [("Content-Range", "bytes 100-199/1000"), ("Content-Length", "100"), ("ETag", "\"b\"")]),
    verdict: .changed(.etag(was: "\"a\"", is: "\"b\""))),
  Row(
    name: "the tag is gone",
    head: response(206, [("Content-Range", "bytes 100-199/1000"), ("Content-Length", "100")]),
    verdict: .changed(.etagVanished(was: "\"a\""))),
  Row(
    name: "a tag appears", known: Row.unmarked, head: partial("bytes 100-199/1000", length: "100"),
    verdict: .changed(.etag(was: nil, is: "\"a\""))),
  Row(
    name: "the change is seen before the wrong start", head: partial("bytes 0-99/500", length: "100"),
    verdict: .changed(.length(was: 1000, is: 500))),
  Row(
    name: "another file whole", acceptsWhole: true,
    head: response(200, [("Content-Length", "1000"), ("ETag", "\"b\"")]),
    verdict: .changed(.etag(was: "\"a\"", is: "\"b\""))),
  Row(
    name: "another length whole", acceptsWhole: true,
    head: response(200, [("Content-Length", "999"), ("ETag", "\"a\"")]),
    verdict: .changed(.length(was: 1000, is: 999))),
  Row(
    name: "another length whole than an earlier run stored", known: nil, stored: 1000, acceptsWhole: true,
    head: response(200, [("Content-Length", "999")]), verdict: .changed(.length(was: 1000, is: 999))),
  Row(
    name: "shorter now", head: response(416, [("Content-Range", "bytes */50")]),
    verdict: .changed(.length(was: 1000, is: 50))),
  Row(
    name: "empty now", asked: ByteRange(0, 100), head: response(416, [("Content-Range", "bytes */0")]),
    verdict: .changed(.length(was: 1000, is: 0))),
  Row(
    name: "empty since an earlier run", asked: ByteRange(0, 100), known: nil, stored: 1000,
    head: response(416, [("Content-Range", "bytes */0")]), verdict: .changed(.length(was: 1000, is: 0))),
]

private let whole: [Row] = [
  ("a length", [("Content-Length", "1000")], .whole(length: 1000, .length), 1),
  ("chunked", [("Transfer-Encoding", "chunked")], .whole(length: nil, .chunked), 1),
  (
    "chunked wins over a length", [("Transfer-Encoding", "chunked"), ("Content-Length", "3")],
    .whole(length: nil, .chunked), 1
  ),
  ("neither", [], .whole(length: nil, .closeDelimited), 1),
  ("HTTP/1.0 with a length", [("Content-Length", "1000")], .whole(length: 1000, .length), 0),
  ("HTTP/1.0 without", [], .whole(length: nil, .closeDelimited), 0),
  ("no bytes", [("Content-Length", "0")], .whole(length: 0, .length), 1),
  (
    "a Content-Range that nobody needs", [("Content-Length", "5"), ("Content-Range", "bytes 0-4/5")],
    .whole(length: 5, .length), 1
  ),
].map { (row: (String, [(String, String)], ResponseVerdict, Int)) in
  Row(name: row.0, known: nil, acceptsWhole: true, head: response(200, row.1, minor: row.3), verdict: row.2)
}

private let brokenWhole: [Row] = [
  ("depends on ranges", false, [("Content-Length", "1000"), ("ETag", "\"a\"")]),
  ("depends on ranges, chunked", false, [("Transfer-Encoding", "chunked"), ("ETag", "\"a\"")]),
  ("encoded", true, [("Content-Length", "1000"), ("Content-Encoding", "br"), ("ETag", "\"a\"")]),
  ("encoded on its way", true, [("Transfer-Encoding", "gzip, chunked"), ("ETag", "\"a\"")]),
  ("Content-Length no number", true, [("Content-Length", "1e3"), ("ETag", "\"a\"")]),
  (
    "Content-Lengths that differ", true,
    [("Content-Length", "1"), ("Content-Length", "2"), ("ETag", "\"a\"")]
  ),
].map { (row: (String, Bool, [(String, String)])) in
  Row(name: row.0, acceptsWhole: row.1, head: response(200, row.2), verdict: .broken(""))
}

private let unsatisfied: [Row] = [
  Row(
    name: "an empty file", asked: ByteRange(0, 4096), known: nil,
    head: response(416, [("Content-Range", "bytes */0")]), verdict: .empty)
]

private let brokenUnsatisfied: [Row] = [
  Row(name: "no Content-Range", head: response(416), verdict: .broken("")),
  Row(name: "a range", head: response(416, [("Content-Range", "bytes 0-9/10")]), verdict: .broken("")),
  Row(
    name: "the known length", head: response(416, [("Content-Range", "bytes */1000")]), verdict: .broken("")),
  Row(
    name: "longer than the range", asked: ByteRange(0, 10), known: nil,
    head: response(416, [("Content-Range", "bytes */50")]), verdict: .broken("")),
  Row(
    name: "empty, but not from the first byte on", known: nil,
    head: response(416, [("Content-Range", "bytes */0")]), verdict: .broken("")),
  Row(
    name: "no range was asked for", asked: nil, head: response(416, [("Content-Range", "bytes */1000")]),
    verdict: .broken("")),
]
