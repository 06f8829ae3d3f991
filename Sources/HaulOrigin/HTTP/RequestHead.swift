// SPDX-License-Identifier: Apache-2.0

/// A request line and its header fields, parsed and judged only as far as the origin needs.
package struct RequestHead: Sendable, Hashable {
  package var method: String
  /// As received, with its query.
  package var target: String
  package var fields: [HeaderField]
  /// False for HTTP/1.0 without `Connection: keep-alive`, or with `Connection: close`.
  package var keepsAlive: Bool

  /// Why a head was refused; `status` is the answer.
  package enum Refusal: Error, Equatable {
    case malformed
    case version

    var status: Int { self == .version ? 505 : 400 }
  }

  /// The target without scheme, authority (absolute form, as through a proxy), query and fragment.
  package var path: String {
    var rest = Substring(target)
    if let scheme = rest.firstRange(of: "://") {
      let authority = rest[scheme.upperBound...]
      rest = authority.firstIndex(of: "/").map { authority[$0...] } ?? "/"
    }
    return String(rest.prefix { $0 != "?" && $0 != "#" })
  }

  /// True when a body follows the head. The origin reads none, so it closes after its answer.
  var hasBody: Bool {
    fields["Transfer-Encoding"] != nil || (fields["Content-Length"].map { $0 != "0" } ?? false)
  }

  /// What the Range field asks for; nil when it is absent or of a form that must be ignored.
  package var range: RangeRequest? { fields["Range"].flatMap(RangeRequest.init) }

  /// Parses the bytes before the empty line (that line not included). Line ends may be CRLF or LF.
  static func parse(_ head: [UInt8]) throws(Refusal) -> RequestHead {
    let text = String(decoding: head, as: UTF8.self)
    // "\r\n" is one Character, hence the split by it and by "\n".
    let lines = text.split(omittingEmptySubsequences: true) { $0 == "\r\n" || $0 == "\n" }
    guard let first = lines.first else { throw .malformed }
    let words = first.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, !words[0].isEmpty, !words[1].isEmpty else { throw .malformed }
    guard words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else { throw .version }
    var fields: [HeaderField] = []
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { throw .malformed }
      let name = line[..<colon]
      guard !name.contains(where: { $0.isWhitespace }) else { throw .malformed }
      fields.append(HeaderField(String(name), String(line[line.index(after: colon)...].trimmed)))
    }
    let connection = fields["Connection"]?.lowercased() ?? ""
    let keepsAlive =
      words[2] == "HTTP/1.1" ? !connection.contains("close") : connection.contains("keep-alive")
    return RequestHead(
      method: String(words[0]), target: String(words[1]), fields: fields, keepsAlive: keepsAlive)
  }
}

extension Substring {
  /// Without blanks and tabs at both ends.
  var trimmed: Substring {
    var rest = self
    while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
    return rest.drop { $0 == " " || $0 == "\t" }
  }

  fileprivate func firstRange(of needle: String) -> Range<Index>? {
    var start = startIndex
    while start != endIndex {
      if self[start...].hasPrefix(needle) { return start..<index(start, offsetBy: needle.count) }
      start = index(after: start)
    }
    return nil
  }
}
