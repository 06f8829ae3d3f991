// SPDX-License-Identifier: Apache-2.0

/// The Content-Disposition field (RFC 6266), of which only the file name is of use.
package enum ContentDisposition {
  /// The name that the server suggests, decoded but not sanitised: it may hold slashes and control
  /// characters.
  ///
  /// `filename*` (RFC 8187) is preferred where it can be decoded, else `filename`. Nil where there is neither
  /// or the name is empty. Spaces in a bare value and a missing end quote are tolerated, since servers send
  /// both.
  package static func fileName(_ text: String) -> String? {
    let parameters = parameters(text)
    for parameter in parameters where FieldText.equalsIgnoringCase(parameter.name, "filename*") {
      if let name = extended(parameter.value), !name.isEmpty { return name }
    }
    return parameters.first { FieldText.equalsIgnoringCase($0.name, "filename") && !$0.value.isEmpty }?.value
  }

  /// The `name=value` pieces between semicolons, with quotes and escapes resolved.
  private static func parameters(_ text: String) -> [(name: String, value: String)] {
    pieces(text).compactMap { piece in
      guard let equals = piece.firstIndex(of: UInt8(ascii: "=")) else { return nil }
      let name = String(decoding: FieldText.trimmed(piece[..<equals]), as: UTF8.self)
      let value = unquoted(FieldText.trimmed(piece[(equals + 1)...]))
      return (name, String(decoding: value, as: UTF8.self))
    }
  }

  /// `text` cut at the semicolons that stand outside quotes.
  private static func pieces(_ text: String) -> [ArraySlice<UInt8>] {
    let bytes = Array(text.utf8)
    var result: [ArraySlice<UInt8>] = []
    var start = 0
    var isQuoted = false
    var isEscaped = false
    for (index, byte) in bytes.enumerated() {
      if isEscaped {
        isEscaped = false
      } else if isQuoted && byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isQuoted.toggle()
      } else if byte == UInt8(ascii: ";") && !isQuoted {
        result.append(bytes[start..<index])
        start = index + 1
      }
    }
    result.append(bytes[start...])
    return result
  }

  private static func unquoted(_ value: ArraySlice<UInt8>) -> [UInt8] {
    guard value.first == UInt8(ascii: "\"") else { return Array(value) }
    var result: [UInt8] = []
    var isEscaped = false
    for byte in value.dropFirst() {
      if isEscaped {
        result.append(byte)
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        break
      } else {
        result.append(byte)
      }
    }
    return result
  }

  /// Decodes `charset'language'value`, percent signs once; nil where it is malformed or in another charset.
  private static func extended(_ value: String) -> String? {
    let parts = value.utf8.split(
      separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    let (bytes, isWellFormed) = FieldText.percentDecoded(parts[2])
    guard isWellFormed else { return nil }
    switch FieldText.lowercased(Substring(parts[0])) {
    case "utf-8":
      return String(validating: bytes, as: UTF8.self)
    case "iso-8859-1":
      var text = String.UnicodeScalarView()
      text.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0) })
      return String(text)
    default:
      return nil
    }
  }
}
