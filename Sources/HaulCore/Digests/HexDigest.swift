// SPDX-License-Identifier: Apache-2.0

/// The bytes of a digest, written in hexadecimal.
package struct HexDigest: Hashable, Sendable {
  package let bytes: [UInt8]

  package init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Reads an even number of hexadecimal digits, at least two, in either case; nil for anything else.
  package init?(hex: String) {
    let digits = hex.utf8.map(FieldText.hexValue)
    guard !digits.isEmpty, digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index], let low = digits[index + 1] else { return nil }
      bytes.append(high << 4 | low)
    }
    self.bytes = bytes
  }

  /// In lower case.
  package var hex: String {
    let alphabet = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [alphabet[Int($0 >> 4)], alphabet[Int($0 & 15)]] }, as: UTF8.self)
  }
}
