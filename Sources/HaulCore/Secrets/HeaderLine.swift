// SPDX-License-Identifier: Apache-2.0

/// The rules for a header line that a user adds to requests: `Name: value`.
package enum HeaderLine {
  /// Longer lines are refused: no server takes them, and they are sent with every request.
  package static let mostBytes = 16 * 1024

  /// Fields that depend on which bytes are missing, or on how a message is framed.
  private static let own: Set<String> = [
    "range", "if-match", "if-none-match", "if-range", "if-modified-since", "if-unmodified-since",
    "accept-encoding", "te", "connection", "keep-alive", "upgrade", "content-length", "transfer-encoding",
    "trailer", "expect",
  ]

  /// Why a line cannot be sent; nil where it can. It never repeats the line, which may be a secret: not even what
  /// stands before the colon, where somebody may have forgotten the name.
  package static func problem(with line: String) -> String? {
    let bytes = Array(line.utf8)
    guard bytes.count <= mostBytes else { return "it is longer than 16 KiB" }
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return "it has no colon" }
    // A line end would smuggle in a second line.
    guard line.unicodeScalars.allSatisfy({ !TextControls.isControl($0) || $0 == "\t" }) else {
      return "it holds a control character"
    }
    let name = bytes[..<colon]
    guard !name.isEmpty, name.allSatisfy(FieldText.isTokenByte) else {
      return "its name is not one of a header"
    }
    let text = String(decoding: name, as: UTF8.self)
    return own.contains(FieldText.lowercased(text)) ? "\(text) is Haul's own to send" : nil
  }

  /// The lines of a file, without their ends (LF or CRLF) and without empty ones. There are no comments: a line
  /// that begins with `#` is one that cannot be sent.
  package static func lines(ofFile text: String) -> [String] {
    Array(text.utf8).split(separator: UInt8(ascii: "\n"))
      .map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
      .filter { !$0.isEmpty }
      .map { String(decoding: $0, as: UTF8.self) }
  }
}
