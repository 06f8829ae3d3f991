// SPDX-License-Identifier: Apache-2.0

/// The status line and the fields of one response.
package struct ResponseHead: Equatable, Sendable {
  /// Three digits: 100...999.
  package var status: Int
  /// The x of HTTP/1.x; 1 for HTTP/2 and later.
  package var minorVersion: Int
  /// The server's own words, unchecked: escape them before they are shown.
  package var reason: String
  package var headers: HeaderBlock

  package init(status: Int, minorVersion: Int = 1, reason: String = "", headers: HeaderBlock = HeaderBlock())
  {
    self.status = status
    self.minorVersion = minorVersion
    self.reason = reason
    self.headers = headers
  }

  /// Reads `HTTP/1.1 206 Partial Content` or `HTTP/2 206`, with or without the line end; nil for anything
  /// else.
  package init?(statusLine: some Sequence<UInt8>) {
    var line = Array(statusLine)[...]
    if line.last == UInt8(ascii: "\n") { line.removeLast() }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count >= 2, let minor = Self.minorVersion(parts[0]) else { return nil }
    guard parts[1].count == 3, let status = FieldText.decimal(parts[1]), status >= 100 else { return nil }
    self.init(
      status: status, minorVersion: minor,
      reason: parts.count > 2 ? FieldText.decoded(FieldText.trimmed(parts[2])) : "")
  }

  package init?(statusLine: String) {
    self.init(statusLine: statusLine.utf8)
  }

  private static func minorVersion(_ protocolName: ArraySlice<UInt8>) -> Int? {
    guard protocolName.starts(with: "HTTP/".utf8) else { return nil }
    let version = protocolName.dropFirst(5).split(
      separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard version.count <= 2, version.allSatisfy({ $0.count == 1 && FieldText.isDigit($0.first!) }) else {
      return nil
    }
    guard version[0].first == UInt8(ascii: "1"), version.count == 2 else { return 1 }
    return Int(version[1].first! - UInt8(ascii: "0"))
  }

  package var contentLength: ContentLength { ContentLength.parse(headers.all("Content-Length")) }

  /// Whether chunked is the last transfer coding: the body then says itself where it ends (RFC 9112 section
  /// 6.1).
  package var isChunked: Bool {
    guard let last = FieldText.listElements(headers.all("Transfer-Encoding")).last else { return false }
    return FieldText.equalsIgnoringCase(last, "chunked")
  }

  /// The transfer codings other than chunked in lower case, or nil where there are none. None was asked for, and
  /// libcurl hands on such a body as it comes.
  package var transferCoding: String? {
    let names = FieldText.listElements(headers.all("Transfer-Encoding"))
      .map { FieldText.lowercased($0) }
      .filter { $0 != "chunked" && $0 != "identity" }
    return names.isEmpty ? nil : names.joined(separator: ", ")
  }

  /// The content codings in lower case, or nil where the body is the representation itself.
  package var contentEncoding: String? {
    let codings = FieldText.listElements(headers.all("Content-Encoding"))
      .map { FieldText.lowercased($0) }
      .filter { $0 != "identity" }
    return codings.isEmpty ? nil : codings.joined(separator: ", ")
  }

  /// `type/subtype` in lower case, without parameters.
  package var mediaType: String? {
    guard let field = headers["Content-Type"] else { return nil }
    let type = Array(field.utf8).prefix { $0 != UInt8(ascii: ";") }
    let text = FieldText.lowercased(String(decoding: FieldText.trimmed(type), as: UTF8.self))
    return text.isEmpty ? nil : text
  }

  /// Whether the body is a web page.
  package var isPage: Bool { mediaType == "text/html" || mediaType == "application/xhtml+xml" }
}
