// SPDX-License-Identifier: Apache-2.0

import HaulCore

extension FuzzTarget {
  /// Whatever a server suggests becomes a name that obeys the grammar, and a name that was written as the
  /// standards say is read as it was.
  static let contentDisposition = FuzzTarget("content-disposition") { input in
    if let name = ContentDisposition.fileName(fieldValue(input)) {
      try insist(!name.isEmpty, "an empty name")
      try sanitised(name)
    }
    guard let name = String(validating: input, as: UTF8.self), !name.isEmpty else { return }
    var quoted = ""
    for scalar in name.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { quoted += "\\" }
      quoted.unicodeScalars.append(scalar)
    }
    try insist(
      isSame(ContentDisposition.fileName("attachment; filename=\"\(quoted)\""), name), "a quoted name is lost"
    )
    let digits = Array("0123456789ABCDEF".unicodeScalars)
    var encoded = ""
    for byte in input {
      encoded += "%"
      encoded.unicodeScalars.append(digits[Int(byte >> 4)])
      encoded.unicodeScalars.append(digits[Int(byte & 15)])
    }
    try insist(
      isSame(ContentDisposition.fileName("inline; filename=\"x\"; filename*=UTF-8''\(encoded)"), name),
      "an extended name is lost")
  }

  static let urlName = FuzzTarget("url-name", mostBytes: 700) { input in
    try sanitised(text(input))
    guard let name = FileName.fromURLPath(text(input)) else { return }
    try NameGrammar.check(name)
  }

  /// What is shown has nothing in it that acts, and is not escaped a second time.
  static let terminalText = FuzzTarget("terminal-text") { input in
    let shown = TerminalText.escaped(text(input))
    try insist(!shown.unicodeScalars.contains(where: isControl), "a control character is left")
    try insist(isSame(TerminalText.escaped(shown), shown), "escaping twice is not escaping once")
  }

  private static func sanitised(_ raw: String) throws {
    let name = FileName.sanitise(raw)
    try NameGrammar.check(name)
    let again = FileName.sanitise(name)
    try insist(isSame(again, name), "\(name.debugDescription) becomes \(again.debugDescription)")
  }

  /// The same bytes; `==` also holds for texts that only look the same.
  private static func isSame(_ left: String?, _ right: String) -> Bool {
    left.map { $0.utf8.elementsEqual(right.utf8) } ?? false
  }
}
