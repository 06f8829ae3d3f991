// SPDX-License-Identifier: Apache-2.0

/// What a terminal shows after some bytes, as far as the command uses one: text, carriage return, line feed, and
/// "clear to the end of the line".
package struct TerminalScreen {
  package private(set) var lines: [String] = [""]
  /// The longest line that was ever drawn, in characters.
  package private(set) var widest = 0
  /// Bytes that this terminal does not know.
  package private(set) var unknown: [String] = []
  private var cells: [Character] = []
  private var column = 0

  package init(_ bytes: [UInt8]) {
    var rest = Substring(String(decoding: bytes, as: UTF8.self))
    while let character = rest.popFirst() {
      switch character {
      // "\r\n" is one Character.
      case "\r\n", "\n": lineFeed()
      case "\r": column = 0
      case "\u{1b}":
        if rest.hasPrefix("[K") {
          rest = rest.dropFirst(2)
          cells.removeLast(max(0, cells.count - column))
        } else {
          unknown.append(String(rest.prefix(8)))
        }
      default: put(character)
      }
    }
    lines[lines.count - 1] = String(cells)
  }

  private mutating func lineFeed() {
    lines[lines.count - 1] = String(cells)
    lines.append("")
    cells = []
    column = 0
  }

  private mutating func put(_ character: Character) {
    if column < cells.count { cells[column] = character } else { cells.append(character) }
    column += 1
    widest = max(widest, column)
  }
}
