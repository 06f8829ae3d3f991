// SPDX-License-Identifier: Apache-2.0

import HaulCore
import HaulTransport

extension FuzzTarget {
  /// A URL, as a person types it and as a Location names it: http or https, no secret left in its text, and the
  /// same URL when it is read again.
  static let location = FuzzTarget("location", mostBytes: 1024) { input in
    let value = text(input)
    if let url = try? RemoteURL(value) {
      try check(url)
      try insist(url.withoutUserInfo.userInfo == nil, "a secret stays")
    }
    let base = try RemoteURL("https://user:secret@example.org:8443/a/b?token=secret#c")
    try insist(!base.text.contains("user"), "the base shows its user")
    guard let url = try? base.resolve(location: fieldValue(input)) else { return }
    try check(url)
    try insist(url.userInfo == nil, "a Location brings user info along")
  }

  private static func check(_ url: RemoteURL) throws {
    try insist(["http", "https"].contains(url.origin.scheme), "the scheme \(url.origin.scheme)")
    try insist(!url.origin.host.isEmpty && (0...65_535).contains(url.origin.port), "no host or port")
    try insist(url.path.hasPrefix("/"), "the path \(url.path.debugDescription)")
    try insist(!url.text.utf8.contains { $0 < 0x20 || $0 == 0x7F || $0 == 0x23 }, "a control or a fragment")
    let authority = url.text.utf8.drop { $0 != 0x2F }.dropFirst(2).prefix { $0 != 0x2F && $0 != 0x3F }
    try insist(!authority.contains(0x40), "user info in \(url.text.debugDescription)")
    try insist(!url.source.text.utf8.contains { $0 == 0x3F || $0 == 0x23 }, "a source with a query")
    guard let again = try? RemoteURL(url.text) else {
      throw Violation(description: "\(url.text.debugDescription) is refused the second time")
    }
    try insist(
      again == url.withoutUserInfo, "\(url.text.debugDescription) reads as \(again.text.debugDescription)")
    if let name = FileName.fromURLPath(url.path) { try NameGrammar.check(name) }
  }
}
