// SPDX-License-Identifier: Apache-2.0

/// A user name and its password, for Basic authentication (RFC 7617).
package struct Credentials: Hashable, Sendable {
  package let user: String
  package let password: String

  package init(user: String, password: String) {
    self.user = user
    self.password = password
  }

  /// Reads `NAME:PASSWORD`. The password may hold further colons; nil without any, or with an empty name.
  package init?(pair: String) {
    let bytes = pair.utf8
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > bytes.startIndex else { return nil }
    user = String(pair[..<colon])
    password = String(pair[bytes.index(after: colon)...])
  }

  /// Why they cannot be sent, in words that tell nothing of them; nil where they can.
  package var problem: String? {
    if user.utf8.contains(UInt8(ascii: ":")) { return "the user name holds a colon" }
    let isPlain = { (text: String) in text.unicodeScalars.allSatisfy { !TextControls.isControl($0) } }
    return isPlain(user) && isPlain(password)
      ? nil : "the user name or the password holds a control character"
  }
}
