// SPDX-License-Identifier: Apache-2.0

import HaulCore
import TestSupport

/// The head of an answer, before it is judged.
struct SimulatedAnswer {
  var status: Int
  var fields: [(String, String)]

  init(_ status: Int, _ validators: [(String, String)], _ fields: [(String, String)]) {
    self.status = status
    self.fields = validators + fields
  }

  private mutating func set(_ name: String, _ values: String...) {
    fields.removeAll { $0.0 == name }
    fields += values.map { (name, $0) }
  }

  /// Makes it one that no server should send. The body stays what it is, so where the head is still right the
  /// bytes are too.
  mutating func distort(
    as oddity: ServerScript.Oddity, _ exchange: SimulatedWorld.Exchange,
    _ generation: ServerScript.Generation, _ dice: inout SeededGenerator
  ) {
    let (first, last, length) = (
      exchange.position, max(exchange.end, exchange.position + 1) - 1, generation.length
    )
    let range = "\(first)-\(last)"
    let number = Int.random(in: 1...1000, using: &dice)
    switch oddity {
    case .noContentRange: set("Content-Range")
    case .otherUnit: set("Content-Range", "items \(range)/\(length)")
    case .twoContentRanges:
      set("Content-Range", "bytes \(range)/\(length)", "bytes \(first + 1)-\(last + 1)/\(length + 1)")
    case .turnedContentRange: set("Content-Range", "bytes \(last + 1)-\(first)/\(length)")
    case .overflow: set("Content-Range", "bytes \(range)/18446744073709551616")
    case .unknownTotal: set("Content-Range", "bytes \(range)/*")
    case .longerTotal: set("Content-Range", "bytes \(range)/\(length + 10_000_000 + number)")
    case .oddForm: set("Content-Range", "bytes=\(range)/\(length)")
    case .endsBehindFile: set("Content-Range", "bytes \(first)-\(length)/\(length)")
    case .noContentLength: set("Content-Length")
    case .longContentLength: set("Content-Length", "\(last + 1 - first + number)")
    case .badContentLength: set("Content-Length", "-1")
    case .coded: set("Content-Encoding", "gzip")
    case .multipart: set("Content-Type", "multipart/byteranges; boundary=x")
    case .noValidator:
      set("ETag")
      set("Last-Modified")
    case .otherTag: set("ETag", "\"\(number)\"")
    case .unaskedPart: status = 206
    case .unsatisfied:
      status = 416
      set("Content-Range", "bytes */\(length + number % 2)")
    case .unsatisfiedWithoutLength:
      status = 416
      set("Content-Range")
    case .status: status = [201, 204, 304, 400, 403, 404, 412, 500, 503].randomElement(using: &dice) ?? 500
    }
  }
}

extension ServerScript {
  /// The validators of one answer, and its date.
  func fields(of generation: Generation, _ dice: inout SeededGenerator) -> [(String, String)] {
    var fields = [("Date", HTTPDate.format(900_000))]
    switch (generation.etag, tags) {
    case (nil, _): break
    case (let etag?, .constant): fields.append(("ETag", etag))
    case (_, .perBackend): fields.append(("ETag", "\"\(Int.random(in: 0..<3, using: &dice))\""))
    case (_, .random): fields.append(("ETag", "\"\(UInt32.random(in: 0...(.max), using: &dice))\""))
    }
    if let lastModified = generation.lastModified { fields.append(("Last-Modified", lastModified)) }
    return fields
  }

  /// Whether it answers 412 to a condition.
  func fails(_ condition: Validator, _ own: [(String, String)]) -> Bool {
    switch (conditions, condition) {
    case (.alwaysFailed, _): true
    case (.honoured, .strongETag(let tag)): !own.contains { $0 == ("ETag", tag) }
    case (.honoured, .lastModified(let date, _)): !own.contains { $0 == ("Last-Modified", date) }
    case (.ignored, _), (.alwaysWhole, _): false
    }
  }
}

extension ServerScript.Generation {
  var identity: Identity {
    Identity(
      length: length, etag: etag.flatMap(EntityTag.init), lastModified: lastModified,
      lastModifiedIsStrong: lastModified != nil)
  }
}
