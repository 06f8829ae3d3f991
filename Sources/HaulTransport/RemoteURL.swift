// SPDX-License-Identifier: Apache-2.0

internal import CCurl
package import HaulCore

/// An absolute http or https URL, taken apart by libcurl's own parser, so that what is judged is what is sent.
package struct RemoteURL: Hashable, Sendable {
  /// The URL as it is sent, without user info and without fragment. May carry secrets in its query.
  package let text: String
  package let origin: Origin
  /// Still percent-encoded, begins with "/".
  package let path: String
  package let hasQuery: Bool
  /// User name and password from the URL, percent-decoded; never part of ``text``.
  package let userInfo: Credentials?

  /// Longer ones are refused: no server needs them, and a redirect could otherwise fill the memory.
  package static let longest = 16 * 1024

  package init(_ text: String) throws(URLProblem) {
    try self.init(text, relativeTo: nil)
  }

  /// The target of a Location field, relative to this URL (RFC 3986 section 5). Its user info is never used.
  package func resolve(location: String) throws(URLProblem) -> RemoteURL {
    try RemoteURL(location, relativeTo: self).withoutUserInfo
  }

  private init(_ text: String, relativeTo base: RemoteURL?) throws(URLProblem) {
    guard text.utf8.count <= Self.longest else { throw URLProblem(reason: "it is longer than 16 KiB") }
    guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) else {
      throw URLProblem(reason: "it contains a control character")
    }
    guard let handle = curl_url() else { throw URLProblem(reason: "out of memory") }
    defer { curl_url_cleanup(handle) }
    if let base { try Self.set(handle, CURLUPART_URL, base.text, 0) }
    // A space in a URL that a person pasted is encoded, not an error.
    try Self.set(handle, CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME) | UInt32(CURLU_URLENCODE))
    let scheme = Self.get(handle, CURLUPART_SCHEME, 0)?.lowercased() ?? ""
    guard scheme == "http" || scheme == "https" else {
      throw URLProblem(reason: "only http and https are fetched, not \(scheme)")
    }
    guard let host = Self.get(handle, CURLUPART_HOST, 0), !host.isEmpty else {
      throw URLProblem(reason: "it names no host")
    }
    let port = Self.get(handle, CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)).flatMap { Int($0) } ?? 0
    let user = Self.get(handle, CURLUPART_USER, UInt32(CURLU_URLDECODE))
    let password = Self.get(handle, CURLUPART_PASSWORD, UInt32(CURLU_URLDECODE))
    userInfo = user == nil && password == nil ? nil : Credentials(user: user ?? "", password: password ?? "")
    curl_url_set(handle, CURLUPART_USER, nil, 0)
    curl_url_set(handle, CURLUPART_PASSWORD, nil, 0)
    curl_url_set(handle, CURLUPART_OPTIONS, nil, 0)
    curl_url_set(handle, CURLUPART_FRAGMENT, nil, 0)
    guard let clean = Self.get(handle, CURLUPART_URL, 0) else { throw URLProblem(reason: "it is malformed") }
    // libcurl decodes the host, so that `%7f` only now is what it stands for.
    guard !clean.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) else {
      throw URLProblem(reason: "it contains a control character")
    }
    self.text = clean
    origin = Origin(scheme: scheme, host: host.lowercased(), port: port)
    path = Self.get(handle, CURLUPART_PATH, 0) ?? "/"
    // An empty query is not sent, so the text tells, and not the part.
    hasQuery = clean.utf8.contains(UInt8(ascii: "?"))
  }

  private init(copy: RemoteURL, userInfo: Credentials?) {
    text = copy.text
    origin = copy.origin
    path = copy.path
    hasQuery = copy.hasQuery
    self.userInfo = userInfo
  }

  package var withoutUserInfo: RemoteURL { RemoteURL(copy: self, userInfo: nil) }

  /// Origin and path: what a manifest may store and a message may show.
  package var source: Source { Source(origin: origin, path: path) }

  private static func set(
    _ handle: OpaquePointer, _ part: CURLUPart, _ value: String, _ flags: UInt32
  ) throws(URLProblem) {
    let code = curl_url_set(handle, part, value, flags)
    guard code == CURLUE_OK else { throw URLProblem(reason: words(code)) }
  }

  /// What is wrong with a URL, for people; libcurl's own texts are for programmers.
  private static func words(_ code: CURLUcode) -> String {
    switch code {
    case CURLUE_BAD_SCHEME, CURLUE_NO_SCHEME, CURLUE_UNSUPPORTED_SCHEME:
      "it does not begin with http:// or https://"
    case CURLUE_BAD_SLASHES: "the slashes behind its scheme are not two"
    case CURLUE_BAD_PORT_NUMBER: "its port is not a number from 0 to 65535"
    case CURLUE_NO_HOST: "it names no host"
    case CURLUE_BAD_HOSTNAME: "its host has a character that no host has"
    case CURLUE_BAD_IPV6: "its IPv6 address is malformed"
    case CURLUE_BAD_LOGIN, CURLUE_BAD_USER, CURLUE_BAD_PASSWORD: "its user name or password is malformed"
    case CURLUE_BAD_FILE_URL: "only http and https are fetched, not file"
    case CURLUE_OUT_OF_MEMORY: "there is no memory to read it"
    default: "it is malformed"
    }
  }

  private static func get(_ handle: OpaquePointer, _ part: CURLUPart, _ flags: UInt32) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text)
  }
}

/// Why a text is not a URL that Haul fetches.
package struct URLProblem: Error, Sendable {
  package let reason: String
}
