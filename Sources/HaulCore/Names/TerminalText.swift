// SPDX-License-Identifier: Apache-2.0

/// Text of a stranger, made harmless for a terminal.
package enum TerminalText {
  /// `text` with all that could act on a terminal made visible: control characters as `\x1b`, those that turn
  /// or break lines as `<U+202E>`. Escaping twice changes nothing more.
  package static func escaped(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if TextControls.isControl(scalar) {
        let digits = String(scalar.value, radix: 16)
        result.append(contentsOf: "\\x\(digits.utf8.count < 2 ? "0" : "")\(digits)".unicodeScalars)
      } else if TextControls.isLayoutControl(scalar) {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        result.append(contentsOf: "<U+\(digits.utf8.count < 4 ? "0" : "")\(digits)>".unicodeScalars)
      } else {
        result.append(scalar)
      }
    }
    return String(result)
  }
}
