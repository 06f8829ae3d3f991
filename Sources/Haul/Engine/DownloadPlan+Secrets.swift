// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulTransport

/// What of a request may be a secret: checked without being repeated.
extension DownloadPlan {
  static func check(headers: [String]) throws(DownloadError) {
    for (index, line) in headers.enumerated() {
      guard let problem = HeaderLine.problem(with: line) else { continue }
      throw DownloadError(
        .invalidRequest, "header line \(index + 1) cannot be sent: \(problem.reason)", advice: problem.advice)
    }
  }

  static func credentials(
    _ login: DownloadRequest.Login, url: RemoteURL
  ) throws(DownloadError) -> Credentials? {
    let found: Credentials?
    switch login {
    case .none: found = url.userInfo
    case .basic(let user, let password): found = Credentials(user: user, password: password)
    case .netrc(let text, let user):
      let entry = Netrc(text).credentials(host: url.origin.host, user: user)
      found = user == nil ? url.userInfo ?? entry : entry
      if found == nil, let user {
        throw DownloadError(
          .invalidRequest, "the .netrc has no entry for the user \(user) of \(url.origin.host)",
          advice: "add one, or give the password in another way")
      }
    }
    if let problem = found?.problem {
      throw DownloadError(
        .invalidRequest, "the credentials for \(url.origin.text) cannot be sent: \(problem)",
        advice: "check where they come from")
    }
    return found
  }

  static func advice(forURL url: String) -> String {
    let shown = redacted(url)
    guard let separator = url.firstRange(of: "://") else {
      // "https//host", "http:host": the separator was mistyped.
      let scheme = url.prefix { $0.isLetter }
      if ["http", "https"].contains(scheme.lowercased()) {
        let rest = shown.dropFirst(scheme.count).drop { $0 == ":" || $0 == "/" }
        if rest.count < shown.count - scheme.count { return "write it as \(scheme)://\(rest)" }
      }
      return shown.isEmpty || shown.hasPrefix("/") || shown.hasPrefix(":")
        ? "give an absolute http:// or https:// URL" : "write its scheme in front: https://\(shown)"
    }
    switch url[..<separator.lowerBound].lowercased() {
    case "http", "https": return "check how it is written"
    case "ftp", "ftps", "sftp", "scp": return "take curl for it, or find the file's https:// URL"
    case "file": return "that is on this machine already: cp copies it"
    default: return "write https:// or http:// in front of the host"
    }
  }

  /// A URL for a message: without user info, query and fragment, even where it cannot be parsed.
  static func redacted(_ url: String) -> String {
    var rest = Substring(url)
    var scheme = Substring()
    if let separator = rest.firstRange(of: "://") {
      scheme = rest[..<separator.upperBound]
      rest = rest[separator.upperBound...]
    }
    let authority = rest.prefix { !"/?#".contains($0) }
    if let at = authority.lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
    // A password may hold a "/" or a "?" that nobody has encoded: then it cannot be told where it ends.
    if rest.contains("@") { rest = "…" }
    return String((scheme + rest.prefix { $0 != "?" && $0 != "#" }).prefix(500))
  }
}
