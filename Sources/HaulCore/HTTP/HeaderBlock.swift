// SPDX-License-Identifier: Apache-2.0

/// The fields of one response in the order in which they came, bounded in number and bytes.
package struct HeaderBlock: Equatable, Sendable {
  package static let mostFields = 100
  /// Names and values together, in bytes of UTF-8.
  package static let mostBytes = 64 * 1024

  package private(set) var fields: [HeaderField] = []
  /// Whether the server sent more than fits. What was too much is not kept; the response is to be refused.
  package private(set) var isOverfull = false
  private var byteCount = 0

  package init() {}

  /// The first value under `name`, whatever the case of its letters.
  package subscript(_ name: String) -> String? {
    fields.first { FieldText.equalsIgnoringCase($0.name, name) }?.value
  }

  /// Every value under `name`, in order.
  package func all(_ name: String) -> [String] {
    fields.filter { FieldText.equalsIgnoringCase($0.name, name) }.map(\.value)
  }

  package mutating func append(name: String, value: String) {
    byteCount += name.utf8.count + value.utf8.count
    guard fields.count < Self.mostFields, byteCount <= Self.mostBytes else {
      isOverfull = true
      return
    }
    fields.append(HeaderField(name: name, value: value))
  }

  /// Takes one raw line, with or without its line end, and answers whether it was a field line.
  ///
  /// A status line, the empty line and a folded continuation are none. Invalid UTF-8 is read as Latin-1.
  @discardableResult
  package mutating func appendLine(_ line: some Sequence<UInt8>) -> Bool {
    var bytes = Array(line)[...]
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return false }
    let name = bytes[..<colon]
    guard !name.isEmpty, name.allSatisfy(FieldText.isTokenByte) else { return false }
    // RFC 9110 section 5.5: CR, LF and NUL inside a value count as spaces, so that no echo of it can split a
    // line.
    let value = bytes[(colon + 1)...].map { [0x00, 0x0A, 0x0D].contains($0) ? UInt8(ascii: " ") : $0 }
    append(
      name: String(decoding: name, as: UTF8.self),
      value: FieldText.decoded(FieldText.trimmed(value[...])))
    return true
  }
}
