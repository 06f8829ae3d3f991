// SPDX-License-Identifier: Apache-2.0

/// A whole answer as a value: what is sent, in which order, and what happens at which position of the body.
package struct ResponsePlan: Sendable, Equatable {
  /// A run of body bytes.
  package enum Segment: Sendable, Equatable {
    /// Half-open offsets of the content; they may lie past its end.
    case content(Range<Int>)
    /// The same, every bit inverted.
    case inverted(Range<Int>)
    case bytes([UInt8])

    var count: Int {
      switch self {
      case .content(let range), .inverted(let range): range.count
      case .bytes(let bytes): bytes.count
      }
    }
  }

  /// What the connection does when the body reaches a position, before it sends the byte there.
  package enum Action: Sendable, Equatable {
    case close, reset, stall
    case gate(String)
    case pace(Int)
  }

  package struct Event: Sendable, Equatable {
    package var position: Int
    package var action: Action
  }

  package var version = "HTTP/1.1"
  package var status: Int
  package var headers: [HeaderField]
  package var framing: OriginResource.Framing
  /// What the segments are runs of.
  package var content = OriginContent.bytes([])
  package var segments: [Segment]
  /// In ascending order of position.
  package private(set) var events: [Event] = []
  /// Sent instead of everything else, then close.
  package var raw: [UInt8]?
  /// Sent before the status line.
  package var preamble: [UInt8] = []
  /// Milliseconds before anything is sent.
  package var delay = 0
  package var keepsAlive: Bool

  /// The content offsets of the body, when the body is one run of content (inverted parts included).
  package var contentRange: Range<Int>? {
    var whole: Range<Int>?
    for segment in segments {
      switch segment {
      case .content(let part), .inverted(let part):
        guard let known = whole else { whole = part; continue }
        guard known.upperBound == part.lowerBound else { return nil }
        whole = known.lowerBound..<part.upperBound
      case .bytes: return nil
      }
    }
    return whole
  }

  /// A status with a one-line text body.
  init(status: Int, retryAfter: String? = nil, keepsAlive: Bool) {
    let text = Array("\(status) \(ReasonPhrase.text(status))\n".utf8)
    self.status = status
    self.headers = [
      HeaderField("Content-Type", "text/plain"), HeaderField("Content-Length", "\(text.count)"),
    ]
    self.framing = .contentLength
    self.segments = [.bytes(text)]
    self.keepsAlive = keepsAlive
    if let retryAfter { headers.set("Retry-After", retryAfter) }
  }

  mutating func add(_ action: Action, at position: Int) {
    let index = events.firstIndex { $0.position > position } ?? events.endIndex
    events.insert(Event(position: max(0, position), action: action), at: index)
  }

  /// Inverts a range of content offsets, cutting segments where needed.
  mutating func invert(_ range: Range<Int>) {
    segments = segments.flatMap { segment -> [Segment] in
      guard case .content(let part) = segment else { return [segment] }
      let wrong = part.clamped(to: range)
      guard !wrong.isEmpty else { return [segment] }
      return [
        .content(part.lowerBound..<wrong.lowerBound), .inverted(wrong),
        .content(wrong.upperBound..<part.upperBound),
      ].filter { $0.count > 0 }
    }
  }

  /// A body of one content range with the Content-Range and length that belong to it.
  mutating func answer(_ range: Range<Int>, of length: Int) {
    segments = [.content(range)]
    headers.set("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)")
    showLength()
  }

  mutating func wrapAsMultipart(_ range: Range<Int>, of length: Int) {
    let head = """
      --haul-origin\r\nContent-Type: application/octet-stream\r\n\
      Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)\r\n\r\n
      """
    segments.insert(.bytes(Array(head.utf8)), at: 0)
    segments.append(.bytes(Array("\r\n--haul-origin--\r\n".utf8)))
    headers.set("Content-Range", nil)
    headers.set("Content-Type", "multipart/byteranges; boundary=haul-origin")
    showLength()
  }

  /// Body bytes, without chunked framing.
  var bodyLength: Int { segments.reduce(0) { $0 + $1.count } }

  /// Sets the framing fields by what the segments hold.
  mutating func showLength() {
    headers.set("Content-Length", framing == .contentLength ? "\(bodyLength)" : nil)
    headers.set("Transfer-Encoding", framing == .chunked ? "chunked" : nil)
    if framing == .close { keepsAlive = false }
  }

  /// Everything before the body.
  var head: [UInt8] {
    var text = "\(version) \(status) \(ReasonPhrase.text(status))\r\n"
    for field in headers { text += "\(field.name): \(field.value)\r\n" }
    if !keepsAlive { text += "Connection: close\r\n" }
    return preamble + Array((text + "\r\n").utf8)
  }
}
