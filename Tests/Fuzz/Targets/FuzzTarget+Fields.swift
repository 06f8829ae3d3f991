// SPDX-License-Identifier: Apache-2.0

import HaulCore

/// A field value as it comes out of a header line with these bytes behind its colon.
func fieldValue(_ bytes: some Sequence<UInt8>) -> String {
  var block = HeaderBlock()
  block.appendLine(Array("X:".utf8) + bytes)
  return block["X"] ?? ""
}

func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

extension FuzzTarget {
  /// What is read is a range inside of its file, and reads the same when it is written as the standard says.
  static let contentRange = FuzzTarget("content-range") { input in
    let value = fieldValue(input)
    switch ContentRange.parse(value) {
    case .satisfied(let range, let total)?:
      try insist(!range.isEmpty, "an empty range")
      try insist(total.map { range.upper <= $0 } ?? true, "\(range) is not inside of \(total ?? 0) bytes")
      let written = "bytes \(range.httpSpec)/\(total.map(String.init) ?? "*")"
      try insist(
        ContentRange.parse(written) == .satisfied(range, total: total), "\(written) reads differently")
      try insist(!ContentRange.isOddForm(written), "\(written) is called odd")
    case .unsatisfied(let total)?:
      try insist(total >= 0, "a negative length")
      try insist(ContentRange.parse("bytes */\(total)") == .unsatisfied(total: total), "*/\(total) is lost")
    case nil: break
    }
    try contentRangeOfNumbers(input)
  }

  /// Three numbers that make sense are read, and any others are not.
  private static func contentRangeOfNumbers(_ input: [UInt8]) throws {
    var reader = InputReader(input)
    let numbers = (0..<3).map { _ in reader.word() >> UInt64(reader.byte() % 64) }
    let parsed = ContentRange.parse("bytes \(numbers[0])-\(numbers[1])/\(numbers[2])")
    let isSound = numbers[0] <= numbers[1] && numbers[1] < numbers[2] && numbers[2] <= UInt64(Int.max)
    try insist((parsed != nil) == isSound, "\(numbers) are \(isSound ? "refused" : "taken")")
  }

  /// A tag that is taken can be echoed: it reads the same again and has nothing in it that ends a line or a
  /// quoted text.
  static let entityTag = FuzzTarget("entity-tag", mostBytes: 1200) { input in
    let halves = input.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
    let tags = halves.compactMap { EntityTag(fieldValue($0)) }
    for tag in tags {
      try insist(EntityTag(tag.field) == tag, "\(tag.field) reads differently")
      try insist(tag.field.utf8.count <= EntityTag.mostBytes, "a tag of \(tag.field.utf8.count) bytes")
      let forbidden = tag.opaque.unicodeScalars.first { $0 == "\"" || $0 == " " || isControl($0) }
      try insist(forbidden == nil, "a tag with \(String(describing: forbidden)) in it")
      try insist(tag.weakly(equals: tag), "a tag that is not itself")
      try insist(tag.strongly(equals: tag) != tag.isWeak, "a weak tag is no strong validator")
    }
    guard tags.count == 2 else { return }
    try insist(
      tags[0].strongly(equals: tags[1]) == tags[1].strongly(equals: tags[0])
        && tags[0].weakly(equals: tags[1]) == tags[1].weakly(equals: tags[0]), "equality has a direction")
    try insist(!tags[0].strongly(equals: tags[1]) || tags[0] == tags[1], "equal and not equal")
  }

  /// Every date reads the same when it is written in the one form that is to be written.
  static let httpDate = FuzzTarget("http-date", mostBytes: 64) { input in
    // The years 0 to 9999.
    let first = -62_167_219_200
    let end = 253_402_300_800
    if let seconds = HTTPDate.parse(fieldValue(input)) {
      try insist(seconds >= first && seconds <= end, "\(seconds) is in no year of four digits")
      try insist(
        seconds == end || HTTPDate.parse(HTTPDate.format(seconds)) == seconds, "\(seconds) reads differently")
    }
    var reader = InputReader(input)
    let seconds = first + Int(reader.word() % UInt64(end - first))
    try insist(HTTPDate.parse(HTTPDate.format(seconds)) == seconds, "\(seconds) reads differently")
  }

  static let retryAfter = FuzzTarget("retry-after", mostBytes: 64) { input in
    let value = fieldValue(input)
    for now in [0, 1_700_000_000, Int.max, Int.min] {
      guard let wait = RetryAfter.parse(value, now: now) else { continue }
      try insist((0...RetryAfter.longest).contains(wait), "a wait of \(wait) s")
      guard let date = HTTPDate.parse(value), now == 1_700_000_000 else { continue }
      try insist(wait == min(max(0, date - now), RetryAfter.longest), "\(wait) s until \(date)")
    }
  }

  static let hexDigest = FuzzTarget("hex-digest", mostBytes: 300) { input in
    let digest = HexDigest(bytes: input)
    try insist(input.isEmpty || HexDigest(hex: digest.hex) == digest, "\(digest.hex) reads differently")
    let value = text(input)
    guard let read = HexDigest(hex: value) else { return }
    try insist(read.hex.utf8.count == value.utf8.count, "a digest of another length")
    try insist(HexDigest(hex: read.hex) == read, "\(read.hex) reads differently")
  }
}
