// SPDX-License-Identifier: Apache-2.0

/// Everything the origin knows about one path. A value: a request is planned on a copy, so a change made
/// while a body is on its way shows only from the next request on (like a file replaced by rename).
package struct OriginResource: Sendable {
  /// How the end of a complete body is marked.
  package enum Framing: Sendable, Hashable {
    case contentLength
    /// `Transfer-Encoding: chunked`, no Content-Length.
    case chunked
    /// Neither: the close of the connection ends the body, as in HTTP/1.0.
    case close
  }

  package struct Redirect: Sendable, Hashable {
    package var status: Int
    package var location: String
  }

  /// Holds every body at `position` (body bytes, not content offsets) until `Origin.openGate(name)`.
  package struct Gate: Sendable, Hashable {
    package var name: String
    package var position: Int

    package init(_ name: String, at position: Int) {
      self.name = name
      self.position = position
    }
  }

  package var content: OriginContent
  /// As sent: with quotes, and with `W/` when weak. Nil: no ETag field.
  package var etag: String?
  /// As sent: an IMF-fixdate. Nil: no Last-Modified field.
  package var lastModified: String?
  package var contentType = "application/octet-stream"
  package var contentDisposition: String?
  /// The value of Repr-Digest (RFC 9530), such as `sha-256=:...:`; the caller computes it.
  package var reprDigest: String?
  package var extraHeaders: [HeaderField] = []
  /// False: Range is ignored and Accept-Ranges is absent.
  package var supportsRanges = true
  /// False: If-Match, If-None-Match, If-(Un)modified-Since and If-Range are ignored (If-Range as if it held).
  package var honoursConditions = true
  package var framing = Framing.contentLength
  package var redirect: Redirect?
  package var faults: [FaultRule] = []
  package var gate: Gate?
  /// Cap of each connection in body bytes per second. Nil: none of its own.
  package var bytesPerSecond: Int?
  /// Silence before the status line of every response, milliseconds.
  package var firstByteDelay = 0

  /// Requests of this path so far; the count that `RequestMatch.nth` is about.
  package internal(set) var requestCount = 0

  package init(_ content: OriginContent, etag: String? = nil, lastModified: String? = nil) {
    self.content = content
    self.etag = etag
    self.lastModified = lastModified
  }

  /// Generated content with a strong ETag made of seed and length and a Last-Modified long past.
  package static func reference(
    seed: UInt64, length: Int, faults: [FaultRule] = [], bytesPerSecond: Int? = nil
  ) -> OriginResource {
    var resource = OriginResource(
      .reference(ReferenceContent(seed: seed, length: length)),
      etag: "\"\(String(seed, radix: 16))-\(String(length, radix: 16))\"",
      lastModified: "Tue, 02 Jan 2024 03:04:05 GMT")
    resource.faults = faults
    resource.bytesPerSecond = bytesPerSecond
    return resource
  }

  /// A redirect to `location`, absolute or relative.
  package static func redirect(to location: String, status: Int = 302) -> OriginResource {
    var resource = OriginResource(.bytes([]))
    resource.redirect = Redirect(status: status, location: location)
    return resource
  }

  /// A web page, made for each request: no ranges, no validators.
  package static func page(_ html: String) -> OriginResource {
    var resource = OriginResource(.bytes(Array(html.utf8)))
    resource.contentType = "text/html"
    resource.supportsRanges = false
    return resource
  }

  /// Counts requests from 1 again, those that the faults have met too.
  package mutating func forgetRequests() {
    requestCount = 0
    for index in faults.indices { faults[index].hits = 0 }
  }

  /// Counts the request and uses up the faults that it meets, in their order.
  mutating func admit(_ request: RequestHead, connection: Int) -> [Fault] {
    requestCount += 1
    var met: [Fault] = []
    for index in faults.indices {
      let rule = faults[index]
      guard rule.hits < rule.times ?? .max,
        rule.match.holds(
          for: request, ordinal: requestCount, connection: connection, length: content.length)
      else { continue }
      faults[index].hits += 1
      met.append(rule.fault)
    }
    return met
  }
}
