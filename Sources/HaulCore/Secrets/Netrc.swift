// SPDX-License-Identifier: Apache-2.0

/// The text of a `.netrc` file: credentials by host.
///
/// An entry `default`, which would send a password to whoever is asked, is read over on purpose; so are `account`
/// and macros (`macdef`). Tokens are separated by spaces, tabs and line ends, may stand in double quotes with `\`
/// before a quote or a backslash. Where a keyword is due, `#` begins a comment to the end of its line.
package struct Netrc: Sendable {
  private struct Entry {
    var machine: String
    var login: String?
    var password: String?
  }

  private let entries: [Entry]

  package init(_ text: String) {
    var reader = NetrcReader(text)
    var entries: [Entry] = []
    // Nil while the present entry is `default`, or before the first one.
    var isMachine = false
    while let keyword = reader.keyword() {
      switch keyword {
      case "machine":
        guard let name = reader.value() else { break }
        entries.append(Entry(machine: FieldText.lowercased(name)))
        isMachine = true
      case "default": isMachine = false
      case "macdef": reader.skipMacro()
      case "login":
        let value = reader.value()
        if isMachine { entries[entries.count - 1].login = value }
      case "password":
        let value = reader.value()
        if isMachine { entries[entries.count - 1].password = value }
      case "account": _ = reader.value()
      default: break
      }
    }
    self.entries = entries
  }

  /// The credentials for a host, from its first entry that has a login; a missing password is empty. The case of
  /// the host's letters does not count. An IPv6 address may have its brackets or not.
  ///
  /// - Parameter user: where one is given, only an entry of that login counts.
  package func credentials(host: String, user: String? = nil) -> Credentials? {
    let wanted = Self.bare(FieldText.lowercased(host))
    for entry in entries where Self.bare(entry.machine) == wanted {
      guard let login = entry.login, user == nil || login == user else { continue }
      return Credentials(user: login, password: entry.password ?? "")
    }
    return nil
  }

  private static func bare(_ host: String) -> Substring {
    host.utf8.first == UInt8(ascii: "[") && host.utf8.last == UInt8(ascii: "]")
      ? host.dropFirst().dropLast() : Substring(host)
  }
}

/// Cuts the text into tokens. Bytes, not characters: see `FieldText`.
private struct NetrcReader {
  private var rest: ArraySlice<UInt8>

  init(_ text: String) { rest = Array(text.utf8)[...] }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

  /// The next token that is no comment.
  mutating func keyword() -> String? {
    while skipSpace(), rest.first == UInt8(ascii: "#") { skipLine() }
    return value()
  }

  /// The next token; a password may begin with `#`.
  mutating func value() -> String? {
    guard skipSpace() else { return nil }
    return rest.first == UInt8(ascii: "\"") ? quoted() : plain()
  }

  /// False at the end of the text.
  private mutating func skipSpace() -> Bool {
    rest = rest.drop(while: Self.isSpace)
    return !rest.isEmpty
  }

  private mutating func plain() -> String {
    let token = rest.prefix { !Self.isSpace($0) }
    rest = rest.dropFirst(token.count)
    return String(decoding: token, as: UTF8.self)
  }

  private mutating func quoted() -> String {
    rest.removeFirst()
    var token: [UInt8] = []
    while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
      token.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
    }
    return String(decoding: token, as: UTF8.self)
  }

  private mutating func skipLine() {
    while let byte = rest.popFirst(), byte != UInt8(ascii: "\n") {}
  }

  /// A macro ends with an empty line.
  mutating func skipMacro() {
    skipLine()
    while !rest.isEmpty {
      let line = rest.prefix { $0 != UInt8(ascii: "\n") }
      skipLine()
      if line.allSatisfy(Self.isSpace) { return }
    }
  }
}
