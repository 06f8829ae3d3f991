// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulTransport

/// The way a request takes: the URL after so many redirects, and what may be sent there.
struct Route: Sendable {
  /// More hops than this are a loop, or an attack.
  static let mostHops = 10

  /// The URL that the user gave.
  private let original: RemoteURL
  private let userHeaderLines: [String]
  let url: RemoteURL
  let hops: Int

  init(plan: DownloadPlan) {
    original = plan.url
    userHeaderLines = plan.headerLines
    url = plan.url
    hops = 0
  }

  private init(_ previous: Route, url: RemoteURL) {
    original = previous.original
    userHeaderLines = previous.userHeaderLines
    self.url = url
    hops = previous.hops + 1
  }

  /// One hop further. Never to another scheme than http and https, and never from https down to http.
  func following(_ location: String) throws(TransferFailure) -> Route {
    guard hops < Self.mostHops else {
      throw TransferFailure(.brokenProtocol, "more than \(Self.mostHops) redirects")
    }
    let next: RemoteURL
    do throws(URLProblem) {
      next = try url.resolve(location: location)
    } catch {
      throw TransferFailure(.brokenProtocol, "a redirect that cannot be followed: \(error.reason)")
    }
    if url.origin.scheme == "https" && next.origin.scheme == "http" {
      throw TransferFailure(.brokenProtocol, "a redirect from https to http (\(next.source.text))")
    }
    return Route(self, url: next)
  }

  /// The same place as if it were given directly: a lease that is redirected again starts counting anew.
  var pinned: Route { Route(pinning: self) }

  private init(pinning route: Route) {
    original = route.original
    userHeaderLines = route.userHeaderLines
    url = route.url
    hops = 0
  }

  /// User headers and credentials belong to the origin that they were given for, and to no other.
  func request(range: ByteRange?) -> TransferRequest {
    let own = ["Accept-Encoding: identity", "Cache-Control: no-transform"]
    guard url.origin == original.origin else {
      return TransferRequest(url: url, range: range, headerLines: own)
    }
    let kept = own.filter { line in !userHeaderLines.contains { $0.hasSameName(as: line) } }
    return TransferRequest(
      url: url, range: range, headerLines: kept + userHeaderLines, credentials: original.userInfo)
  }
}

extension String {
  fileprivate func hasSameName(as other: String) -> Bool {
    prefix { $0 != ":" }.lowercased() == other.prefix { $0 != ":" }.lowercased()
  }
}
