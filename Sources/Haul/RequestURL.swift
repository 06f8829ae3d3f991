// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulTransport

/// What the command asks about a URL before it makes a request of it.
package enum RequestURL {
  /// The name that a file of this URL gets, or nil where the URL names none or is none.
  package static func fileName(_ url: String) -> String? {
    (try? RemoteURL(url)).flatMap { FileName.fromURLPath($0.path) }
  }

  /// The host, or nil where the URL has a login of its own or is none.
  package static func hostWithoutLogin(_ url: String) -> String? {
    guard let url = try? RemoteURL(url), url.userInfo == nil else { return nil }
    return url.origin.host
  }

  /// Whether two URLs belong to one scheme, host and port, so that one's headers may be sent to the other.
  package static func haveSameOrigin(_ first: String, _ second: String) -> Bool {
    guard let first = try? RemoteURL(first), let second = try? RemoteURL(second) else { return false }
    return first.origin == second.origin
  }

  /// The URL for a message: without user info and query.
  package static func shown(_ url: String) -> String { DownloadPlan.redacted(url) }
}
