// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport

/// Draws one script.
struct OriginScriptBuilder {
  /// A fault that can be described: some hold closures.
  typealias Named = (name: String, fault: Fault)

  static let page = "<!DOCTYPE html><title>Log in</title>"
  /// After so many requests the server has gone for good, so that no script can go on for ever.
  static let mostRequests = 300

  let temper: OriginScript.Temper
  var dice: SeededGenerator
  var resource = OriginResource(.bytes([]))
  var configuration = OriginConfiguration()
  var files: [ReferenceContent] = []
  var clean: [OriginResource] = []
  var page: String?
  var notes: [String] = []

  init(temper: OriginScript.Temper, dice: SeededGenerator) {
    self.temper = temper
    self.dice = dice
  }

  mutating func build() {
    let first = ReferenceContent(seed: dice.next(), length: length())
    files = [first]
    resource = OriginResource(
      .reference(first), etag: pick([nil, "\"a\"", "\"a\"", "W/\"a\""]),
      lastModified: pick([nil, "Tue, 02 Jan 2024 03:04:05 GMT"]))
    clean = [resource]
    notes = ["\(first.length) bytes", resource.etag ?? "no tag", resource.lastModified ?? "no date"]
    nature()
    if temper == .changing || temper == .hostile && oneIn(4) { change() }
    for _ in 0..<Int.random(in: 0...3, using: &dice) { trouble() }
    switch temper {
    case .hostile: for _ in 0..<Int.random(in: 1...3, using: &dice) { hostility() }
    case .lying: lie()
    default: break
    }
    add(("is gone", .resetAfter(0)), on: .sinceNth(Self.mostRequests), "")
  }

  // MARK: Dice

  mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: 0..<values.count, using: &dice)]
  }

  mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &dice) == 0 }

  private mutating func length() -> Int {
    switch Int.random(in: 0..<10, using: &dice) {
    case 0: Int.random(in: 0...2, using: &dice)
    case 1...3: Int.random(in: 3...100_000, using: &dice)
    case 4...5: Int.random(in: 100_000...(4 << 20), using: &dice)
    default: Int.random(in: (4 << 20)...(10 << 20), using: &dice)
    }
  }

  /// A place in a body, mostly inside of it.
  private mutating func place() -> Int {
    let length = files[0].length
    return pick([0, 1, Int.random(in: 0...max(1, length), using: &dice), length / 2, max(0, length - 1)])
  }

  mutating func add(_ named: Named, on match: RequestMatch, _ shown: String) {
    resource.faults.append(named.fault.on(match))
    if !shown.isEmpty { notes.append("\(named.name) \(shown)") }
  }

  // MARK: What is legal

  /// What the server is like, for good.
  private mutating func nature() {
    if oneIn(5) { resource.supportsRanges = false; notes.append("no ranges") }
    if oneIn(5) { resource.framing = .chunked; notes.append("chunked") }
    if oneIn(4) {
      let count = Int.random(in: 1...3, using: &dice)
      let refusal = pick([OriginConfiguration.Refusal.status(503), .status(429, retryAfter: "0"), .reset])
      configuration.connectionLimit = .init(count, refusal: refusal)
      notes.append("\(count) connections, else \(refusal)")
    }
    if oneIn(6) { configuration.requestsPerConnection = 1; notes.append("one request a connection") }
    if oneIn(6) { add(("103 before", .preamble(Self.hints)), on: .every, "always") }
    if oneIn(6) {
      let most = max(1000, files[0].length / Int.random(in: 2...12, using: &dice))
      add(("\(most) bytes at most", .shortRange(most)), on: .every, "always")
    }
    if oneIn(6) { add(("bytes=", .contentRange(after: "bytes=")), on: .every, "always") }
    if oneIn(6) { add(("redirected to /g", .redirect(to: "/g")), on: .not(.targetContains("/g")), "always") }
  }

  private static let hints = Array("HTTP/1.1 103 Early Hints\r\nETag: \"hint\"\r\nLink: </x>\r\n\r\n".utf8)

  /// Another file from some request on. Some head always tells: a change that none tells is a lie.
  private mutating func change() {
    let old = files[0]
    var length = old.length
    var new = resource
    switch Int.random(in: 0..<3, using: &dice) {
    // A strong validator that stays is the server's word for one file, whatever a weak one says.
    case 0 where resource.etag == "\"a\"": new.etag = "\"b\""
    case 0 where resource.etag != nil && resource.lastModified == nil: new.etag = "W/\"b\""
    case 1 where resource.lastModified != nil && resource.etag != "\"a\"":
      new.lastModified = "Wed, 03 Jan 2024 03:04:05 GMT"
    default:
      length = max(0, length + pick([-1000, 1, 100_000])) + (length == 0 ? 1 : 0)
      if resource.etag == "\"a\"" { new.etag = "\"b\"" }
    }
    let content = ReferenceContent(seed: dice.next(), length: length)
    new.content = .reference(content)
    new.faults = []
    files.append(content)
    clean.append(new)
    let ordinal = Int.random(in: 1...6, using: &dice)
    add(
      ("another file (\(length) bytes, \(new.etag ?? "-"), \(new.lastModified ?? "-"))", .instead(new)),
      on: .sinceNth(ordinal), "from request \(ordinal) on")
  }

  /// Something that goes wrong once on the best of servers.
  private mutating func trouble() {
    let ordinal = Int.random(in: 1...6, using: &dice)
    let position = place()
    let named: Named = pick([
      ("closed after \(position)", .closeAfter(position)), ("reset after \(position)", .resetAfter(position)),
      ("503", .status(503)), ("429", .status(429, retryAfter: "0")), ("500", .status(500)),
      ("stalled after \(position)", .stallAfter(position)), ("late", .delay(20)),
    ])
    add(named, on: .nth(ordinal), "at request \(ordinal)")
  }
}
