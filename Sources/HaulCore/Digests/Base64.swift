// SPDX-License-Identifier: Apache-2.0

/// Base64 with its padding (RFC 4648 section 4), as digests are sent in header fields.
enum Base64 {
  /// The bytes, or nil where `text` is not exactly one encoding of `count` bytes. Bits that are not used may be
  /// set (RFC 8941 section 4.2.7 lets them pass).
  static func decode(_ text: some StringProtocol, count: Int) -> [UInt8]? {
    let padding = (3 - count % 3) % 3
    let symbols = Array(text.utf8)
    guard symbols.count == (count + 2) / 3 * 4 else { return nil }
    guard symbols.suffix(padding).allSatisfy({ $0 == UInt8(ascii: "=") }) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 2)
    var word: UInt32 = 0
    for (index, symbol) in symbols.enumerated() {
      guard let value = index < symbols.count - padding ? value(of: symbol) : 0 else { return nil }
      word = word << 6 | value
      guard index % 4 == 3 else { continue }
      for shift in [16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(shift))) }
      word = 0
    }
    return Array(bytes.prefix(count))
  }

  private static func value(of symbol: UInt8) -> UInt32? {
    switch symbol {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(symbol - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(symbol - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(symbol - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
