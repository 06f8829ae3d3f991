// SPDX-License-Identifier: Apache-2.0

/// The rules for a header line that a user adds to requests: `Name: value`.
package enum HeaderLine {
  /// Longer lines are refused: no server takes them, and they are sent with every request.
  package static let mostBytes = 16 * 1024

  /// Why a line cannot be sent, and what to do instead. Neither repeats the line, which may be a secret: not even
  /// what stands before the colon, where somebody may have forgotten the name.
  package struct Problem: Equatable, Sendable {
    package let reason: String
    package let advice: String
  }

  /// Fields that depend on which bytes are missing, on whose file it is, or on how a message is framed.
  private static let own: [(names: Set<String>, advice: String)] = [
    (
      ["range"], "leave it out: Haul asks for the missing pieces by itself, and always fetches the whole file"
    ),
    (
      ["if-match", "if-none-match", "if-range", "if-modified-since", "if-unmodified-since"],
      "leave it out: Haul binds its requests to the file's version by itself"
    ),
    (
      ["accept-encoding"],
      "leave it out: Haul asks for the bytes as they are stored, since what is compressed on the way cannot be resumed"
    ),
    (["host"], "leave it out: the host is the URL's, and two hosts' files must not be mistaken for one"),
    (
      [
        "te", "connection", "keep-alive", "upgrade", "content-length", "transfer-encoding", "trailer",
        "expect",
      ], "leave it out: it is about the connection, which Haul sees to"
    ),
  ]

  /// Why a line cannot be sent; nil where it can.
  package static func problem(with line: String) -> Problem? {
    let bytes = Array(line.utf8)
    guard bytes.count <= mostBytes else { return formProblem("it is longer than 16 KiB") }
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return formProblem("it has no colon") }
    // A line end would smuggle in a second line.
    guard line.unicodeScalars.allSatisfy({ !TextControls.isControl($0) || $0 == "\t" }) else {
      return formProblem("it holds a control character")
    }
    let name = bytes[..<colon]
    guard !name.isEmpty, name.allSatisfy(FieldText.isTokenByte) else {
      return formProblem("what stands before its colon is no name of a header")
    }
    let text = String(decoding: name, as: UTF8.self)
    guard let entry = own.first(where: { $0.names.contains(FieldText.lowercased(text)) }) else { return nil }
    return Problem(reason: "\(text) is Haul's own to send", advice: entry.advice)
  }

  private static func formProblem(_ reason: String) -> Problem {
    Problem(reason: reason, advice: "write it as 'Name: value' in one line, or leave it out")
  }

  /// The lines of a file, without their ends (LF or CRLF) and without empty ones, with their numbers from 1. There
  /// are no comments: a line that begins with `#` is one that cannot be sent.
  package static func numberedLines(ofFile text: String) -> [(number: Int, text: String)] {
    Array(text.utf8).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
      .enumerated()
      .filter { !$1.isEmpty }
      .map { ($0 + 1, String(decoding: $1, as: UTF8.self)) }
  }

  /// The same without the numbers.
  package static func lines(ofFile text: String) -> [String] { numberedLines(ofFile: text).map(\.text) }
}
