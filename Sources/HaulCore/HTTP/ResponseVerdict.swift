// SPDX-License-Identifier: Apache-2.0

/// How the end of a body is known.
package enum Framing: Sendable, Equatable {
  /// By Content-Length.
  case length
  /// By the last chunk of Transfer-Encoding: chunked.
  case chunked
  /// Only by the end of the connection, which a cut looks like too.
  case closeDelimited
}

/// What the head of a response is worth, decided before the first byte of its body is accepted.
///
/// libcurl's own success proves nothing for a range (a 200 with the whole file, a 206 for other bytes and a 416
/// with an error page all end well), so this decision is the only gate.
package enum ResponseVerdict: Sendable, Equatable {
  /// These bytes of a file of `total` bytes; they begin where the request asked. The body begins `overlap` bytes
  /// before them (some caches answer whole blocks).
  case partial(ByteRange, total: Int, overlap: Int = 0)
  /// The whole file from its first byte on.
  case whole(length: Int?, Framing)
  /// The file has no bytes.
  case empty
  case redirect(location: String)
  /// Not now, or not so many: 408, 425, 429, 5xx. `retryAfter` in seconds.
  case limited(status: Int, retryAfter: Int?)
  /// Not at all: other 4xx.
  case refused(status: Int)
  /// Bytes of another generation of the file.
  case changed(ResourceChange)
  /// The file is not the one that the request was bound to, as the server sees it (412).
  case conditionFailed
  /// Not what HTTP allows as an answer to this request.
  case broken(String)
  /// Longer than any file can be: asking again is of no use.
  case boundless(String)
}

/// What a request asked for and what is known, against which its response is judged.
package struct Expectation: Sendable {
  /// The bytes asked for, or nil where no Range field was sent.
  package var asked: ByteRange?
  /// The generation that is being fetched, or nil before the first accepted response.
  package var known: Identity?
  /// The length as an earlier run has stored it; it counts until `known` tells one.
  package var storedLength: Int?
  /// Whether a 200 with the whole file may be used: only while nothing depends on ranges yet.
  package var acceptsWhole: Bool
  /// Whether the request carried a condition.
  package var isConditional = false
  /// Whether entity tags were seen to differ for one and the same file, so that they say nothing.
  package var ignoresTags = false
  /// Whether a digest from elsewhere will tell in the end whether the bytes belong together.
  package var hasTrustedDigest = false
  /// Whether a web page can only be somebody else's answer (a login, an error with the wrong status), because
  /// the file is none.
  package var refusesPages = false
  /// Wall clock, seconds since 1970, for a Retry-After that is a date.
  package var now: Int

  /// Longer files than this do not exist; arithmetic on their offsets would overflow.
  static let longest = 1 << 62
  /// A body that begins further before what was asked for than this costs more than it brings.
  static let longestOverlap = 1 << 20

  package init(
    asked: ByteRange?, known: Identity?, storedLength: Int? = nil, acceptsWhole: Bool, now: Int
  ) {
    self.asked = asked
    self.known = known
    self.storedLength = storedLength
    self.acceptsWhole = acceptsWhole
    self.now = now
  }

  /// The decision table. Each row has its test.
  package func judge(_ head: ResponseHead) -> ResponseVerdict {
    switch head.status {
    case 206: return judgePartial(head)
    case 200: return judgeWhole(head)
    case 301, 302, 303, 307, 308:
      guard let location = head.headers["Location"], !location.isEmpty else {
        return .broken("a redirect (\(head.status)) without a Location")
      }
      return .redirect(location: location)
    case 416: return judgeUnsatisfied(head)
    case 412 where isConditional: return .conditionFailed
    case 408, 425, 429, 500, 502, 503, 504, 507, 509, 520...527:
      return .limited(
        status: head.status,
        retryAfter: head.headers["Retry-After"].flatMap { RetryAfter.parse($0, now: now) })
    case 400..<600: return .refused(status: head.status)
    default: return .broken("status \(head.status), which no request of this kind asks for")
    }
  }

  private func judgePartial(_ head: ResponseHead) -> ResponseVerdict {
    guard let asked else { return .broken("a part (206) although no range was asked for") }
    if head.mediaType == "multipart/byteranges" {
      return .broken("several parts in one body (multipart/byteranges) for a single range")
    }
    if let problem = contentProblem(head) { return .broken(problem) }
    let fields = head.headers.all("Content-Range")
    guard let field = fields.first else {
      return .broken("a part (206) that does not say which (no Content-Range)")
    }
    guard fields.allSatisfy({ $0 == field }) else { return .broken("two different Content-Range fields") }
    guard case .satisfied(let range, let total)? = ContentRange.parse(field) else {
      return .broken("a Content-Range that makes no sense: \(field)")
    }
    if total == nil, !isVouchedFor(head) {
      return .broken("a part that tells neither the length of the file nor which version it is of (\(field))")
    }
    guard let total = total ?? knownLength else {
      return .broken("a part of a file whose length is not told (\(field))")
    }
    if let problem = lengthProblem(total) { return .boundless(problem) }
    if let change = change(in: head, length: total) { return .changed(change) }
    let overlap = asked.lower - range.lower
    guard (0...Self.longestOverlap).contains(overlap), range.upper > asked.lower else {
      return .broken("bytes from \(range.lower) on where \(asked.lower) was asked for")
    }
    guard range.upper <= total else { return .broken("a part that ends after the file (\(field))") }
    switch head.contentLength {
    case .exact(let length) where length != range.count && !head.isChunked:
      return .broken("\(length) bytes announced for a range of \(range.count)")
    case .invalid: return .broken("a Content-Length that is no number")
    case .absent where !head.isChunked: return .broken("a part whose end cannot be told from a cut")
    default: break
    }
    let taken = ByteRange(asked.lower, min(range.upper, max(asked.upper, asked.lower + 1)))
    return .partial(taken, total: total, overlap: overlap)
  }

  private func judgeWhole(_ head: ResponseHead) -> ResponseVerdict {
    if let problem = contentProblem(head) { return .broken(problem) }
    var length: Int?
    var framing = Framing.closeDelimited
    switch head.contentLength {
    case .invalid: return .broken("a Content-Length that is no number")
    case .exact(let value) where !head.isChunked:
      length = value
      framing = .length
    default: if head.isChunked { framing = .chunked }
    }
    if let problem = lengthProblem(length) { return .boundless(problem) }
    if let change = change(in: head, length: length) { return .changed(change) }
    guard acceptsWhole else { return .broken("the whole file (200) where a part was asked for") }
    return .whole(length: length, framing)
  }

  private func judgeUnsatisfied(_ head: ResponseHead) -> ResponseVerdict {
    guard let asked else { return .broken("416 although no range was asked for") }
    guard let field = head.headers["Content-Range"], case .unsatisfied(let total)? = ContentRange.parse(field)
    else { return .broken("416 (range not satisfiable) that does not tell the length") }
    if let problem = lengthProblem(total) { return .boundless(problem) }
    if let known = knownLength, known != total { return .changed(.length(was: known, is: total)) }
    if total == 0 && asked.lower == 0 { return .empty }
    return .broken("416 (range not satisfiable) for bytes from \(asked.lower) of \(total)")
  }

  private func contentProblem(_ head: ResponseHead) -> String? {
    if let coding = head.transferCoding {
      return "an encoded body (Transfer-Encoding: \(coding)) although none was asked for"
    }
    if let coding = head.contentEncoding {
      return "an encoded body (Content-Encoding: \(coding)) although the plain one was asked for"
    }
    guard refusesPages, head.isPage else { return nil }
    return "a web page (text/html) instead of the file"
  }

  private func lengthProblem(_ length: Int?) -> String? {
    guard let length, length > Self.longest else { return nil }
    let (told, most) = (ByteCountText.decimal(length), ByteCountText.decimal(Self.longest))
    return "a file of \(told), where \(most) is the most that any may have"
  }

  /// Whether it has a strong validator, or needs none.
  private func isVouchedFor(_ head: ResponseHead) -> Bool {
    let identity = Identity(head: head, length: knownLength)
    return hasTrustedDigest || (ignoresTags ? identity.withoutTag : identity).strongest != nil
  }

  private var knownLength: Int? { known?.length ?? storedLength }

  private func change(in head: ResponseHead, length: Int?) -> ResourceChange? {
    if let was = knownLength, let length, was != length { return .length(was: was, is: length) }
    guard let known else { return nil }
    let identity = Identity(head: head, length: length)
    return known.change(to: ignoresTags ? identity.withoutTag : identity)
  }
}
