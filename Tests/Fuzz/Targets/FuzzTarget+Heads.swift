// SPDX-License-Identifier: Apache-2.0

import HaulCore

extension FuzzTarget {
  /// A whole head, line by line as libcurl hands it over: bounded, harmless to echo, and judged so that no byte
  /// outside of the file or of what was asked for can follow.
  static let responseHead = FuzzTarget("response-head", mostBytes: 2048) { input in
    var lines = input.split(separator: 0x0A, omittingEmptySubsequences: false)[...]
    let statusLine = lines.popFirst() ?? []
    var head = ResponseHead(statusLine: statusLine) ?? ResponseHead(status: 206)
    try insist((100...999).contains(head.status), "status \(head.status)")
    for line in lines { head.headers.appendLine(line) }
    try checkFields(head.headers)
    for asked in [nil, ByteRange(0, 100), ByteRange(50, 100), ByteRange(99, 100)] {
      for known in [nil, 0, 100, 1 << 40] {
        for acceptsWhole in [false, true] {
          let expectation = Expectation(
            asked: asked, known: nil, storedLength: known, acceptsWhole: acceptsWhole, now: 1_700_000_000)
          try check(expectation.judge(head), of: head, asked: asked, known: known)
        }
      }
    }
    try checkIdentity(head)
  }

  private static func checkFields(_ block: HeaderBlock) throws {
    try insist(block.fields.count <= HeaderBlock.mostFields, "\(block.fields.count) fields")
    let size = block.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    try insist(size <= HeaderBlock.mostBytes, "\(size) bytes of fields")
    for field in block.fields {
      let splits = field.value.utf8.contains { $0 == 0 || $0 == 0x0A || $0 == 0x0D }
      try insist(!splits, "a value that splits a line")
      try insist(
        !field.name.utf8.isEmpty && field.name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3A },
        "a name that is no token")
      var again = HeaderBlock()
      try insist(again.appendLine("\(field.name): \(field.value)\r\n".utf8), "a field is no field")
      try insist(again.fields == [field], "a field reads differently")
    }
  }

  private static func check(
    _ verdict: ResponseVerdict, of head: ResponseHead, asked: ByteRange?, known: Int?
  ) throws {
    switch verdict {
    case .partial(let range, let total, _):
      guard let asked else { throw Violation(description: "a part that nobody asked for") }
      try insist(head.status == 206, "a part under \(head.status)")
      try insist(head.contentEncoding == nil, "an encoded part")
      try insist(!range.isEmpty && range.upper <= total, "\(range) of \(total)")
      try insist(range.contains(asked.lower), "\(range) where \(asked) was asked for")
      try insist(known.map { $0 == total } ?? true, "\(total) bytes where there were \(known ?? 0)")
      try insist(total <= 1 << 62, "\(total) bytes")
    case .whole(let length, let framing):
      try insist(head.status == 200, "the whole under \(head.status)")
      try insist(head.contentEncoding == nil, "an encoded file")
      try insist((framing == .length) == (length != nil), "\(framing) with the length \(length ?? -1)")
      try insist(length.map { $0 >= 0 && $0 <= 1 << 62 } ?? true, "\(length ?? 0) bytes")
      if let known, let length { try insist(known == length, "\(length) bytes where there were \(known)") }
    case .empty: try insist(head.status == 416, "an empty file under \(head.status)")
    case .redirect(let location): try insist(!location.isEmpty, "a redirect to nowhere")
    case .limited(_, let retryAfter):
      try insist(retryAfter.map { (0...RetryAfter.longest).contains($0) } ?? true, "a long wait")
    default: break
    }
  }

  private static func checkIdentity(_ head: ResponseHead) throws {
    let identity = Identity(head: head, length: 100)
    try insist(identity.change(to: identity) == nil, "a response differs from itself")
    switch identity.strongest {
    case .strongETag(let field)?:
      try insist(EntityTag(field).map { !$0.isWeak } ?? false, "\(field) is no strong tag")
    case .lastModified(let date, let seconds)?:
      try insist(HTTPDate.parse(date) == seconds, "\(date) is not \(seconds)")
      try insist(identity.etag.map(\.isWeak) ?? true, "a date in place of a strong tag")
    case nil: break
    }
  }
}
