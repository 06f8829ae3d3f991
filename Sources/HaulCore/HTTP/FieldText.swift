// SPDX-License-Identifier: Apache-2.0

/// The lexical rules that header fields share (RFC 9110 section 5.6). They look at bytes and scalars, never
/// at `Character`: a delimiter followed by a combining mark is one `Character` and would not be seen.
enum FieldText {
  /// Whether `byte` may stand in a token: a field name, a parameter name, a coding.
  static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
      UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
      true
    default:
      false
    }
  }

  static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

  static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

  static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }

  /// ASCII letters in lower case, all else as it is: field names and codings are ASCII, whatever the locale.
  static func lowercased(_ text: some StringProtocol) -> String {
    String(decoding: text.utf8.map { lowercased($0) }, as: UTF8.self)
  }

  static func equalsIgnoringCase(_ left: some StringProtocol, _ right: some StringProtocol) -> Bool {
    left.utf8.elementsEqual(right.utf8) { lowercased($0) == lowercased($1) }
  }

  /// Whether two texts are the same bytes. `==` on `String` also holds for texts that only look the same.
  static func identical(_ left: String?, _ right: String?) -> Bool {
    switch (left, right) {
    case (nil, nil): true
    case (let left?, let right?): left.utf8.elementsEqual(right.utf8)
    default: false
    }
  }

  /// Without optional whitespace (SP, HTAB) at both ends.
  static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = bytes
    while let first = rest.first, isSpace(first) { rest.removeFirst() }
    while let last = rest.last, isSpace(last) { rest.removeLast() }
    return rest
  }

  /// A number of digits alone, or nil: no sign, no space, no overflow.
  static func decimal(_ digits: some Collection<UInt8>) -> Int? {
    guard !digits.isEmpty else { return nil }
    var value = 0
    for digit in digits {
      guard isDigit(digit) else { return nil }
      let (shifted, tooBig) = value.multipliedReportingOverflow(by: 10)
      let (sum, overflow) = shifted.addingReportingOverflow(Int(digit - UInt8(ascii: "0")))
      guard !tooBig, !overflow else { return nil }
      value = sum
    }
    return value
  }

  /// The comma-separated elements of all of `values`, trimmed; empty ones are skipped (RFC 9110 section
  /// 5.6.1). Not for lists whose elements may hold quoted commas.
  static func listElements(_ values: [String]) -> [String] {
    values.flatMap { value in
      Array(value.utf8).split(separator: UInt8(ascii: ","))
        .map { String(decoding: trimmed($0), as: UTF8.self) }
        .filter { !$0.isEmpty }
    }
  }

  /// Decodes bytes off the wire: UTF-8 where they are valid UTF-8, else Latin-1, which HTTP once was.
  static func decoded(_ bytes: some Collection<UInt8>) -> String {
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    var text = String.UnicodeScalarView()
    text.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0) })
    return String(text)
  }

  static func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// The bytes of `text` with every `%XX` decoded once, and whether each percent sign began such a triplet.
  /// A stray percent sign stands for itself.
  static func percentDecoded(_ text: some Collection<UInt8>) -> (bytes: [UInt8], isWellFormed: Bool) {
    let source = Array(text)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(source.count)
    var isWellFormed = true
    var index = 0
    while index < source.count {
      let byte = source[index]
      if byte == UInt8(ascii: "%") {
        if index + 2 < source.count, let high = hexValue(source[index + 1]),
          let low = hexValue(source[index + 2])
        {
          bytes.append(high << 4 | low)
          index += 3
          continue
        }
        isWellFormed = false
      }
      bytes.append(byte)
      index += 1
    }
    return (bytes, isWellFormed)
  }
}
