// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulTransport

/// The way a request takes: the URL after so many redirects, and what may be sent there.
struct Route: Sendable {
  /// More hops than this are a loop, or an attack.
  static let mostHops = 10

  /// The URL that the user gave. His headers and credentials belong to its origin.
  private let given: RemoteURL
  private let userHeaderLines: [String]
  private let credentials: Credentials?
  private let allowsDowngrade: Bool
  /// Whether a hop has led away from that origin. One that comes back later gets no secrets any more, because it
  /// was a stranger who chose its path and query; only the very URL that was given is as good as at the start.
  private let hasLeft: Bool
  let url: RemoteURL
  let hops: Int

  init(plan: DownloadPlan) {
    given = plan.url
    userHeaderLines = plan.headerLines
    credentials = plan.credentials
    allowsDowngrade = plan.options.allowsDowngrade
    hasLeft = false
    url = plan.url
    hops = 0
  }

  private init(_ previous: Route, url: RemoteURL, hops: Int) {
    given = previous.given
    userHeaderLines = previous.userHeaderLines
    credentials = previous.credentials
    allowsDowngrade = previous.allowsDowngrade
    hasLeft = url.text != given.text && (previous.hasLeft || url.origin != given.origin)
    self.url = url
    self.hops = hops
  }

  /// The way from the beginning, as the user gave it.
  var original: Route { Route(self, url: given, hops: 0) }

  /// What decisions about an answer need to know of its place. TLS counts only where its end can be told from a cut.
  var place: AnswerPlace {
    AnswerPlace(
      source: url.source.text, isSecure: url.origin.scheme == "https" && TLSEnd.isTold,
      isRenewable: url != given || SignedLink.isSigned(url.text))
  }

  /// One hop further. Never to another scheme than http and https, and from https down to http only where that is
  /// allowed.
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
    if url.origin.scheme == "https", next.origin.scheme == "http", !allowsDowngrade {
      throw TransferFailure(
        .brokenProtocol,
        "a redirect from https down to http (\(next.source.text)), which only --allow-downgrade follows")
    }
    return Route(self, url: next, hops: hops + 1)
  }

  /// The same place as if it were given directly: a lease that is redirected again starts counting anew.
  var pinned: Route { Route(self, url: url, hops: 0) }

  /// User headers and credentials belong to the origin that they were given for, and to no other.
  func request(_ asked: PartRequest) -> TransferRequest {
    var own = ["Accept-Encoding: identity", "Cache-Control: no-transform"]
    if let line = asked.condition?.conditionLine { own.append(line) }
    var request = TransferRequest(url: url, range: asked.range, headerLines: own)
    request.isFresh = asked.isFresh
    guard !hasLeft else { return request }
    let kept = own.filter { line in !userHeaderLines.contains { $0.hasSameName(as: line) } }
    request.headerLines = kept + userHeaderLines
    request.credentials = credentials
    return request
  }
}

extension String {
  fileprivate func hasSameName(as other: String) -> Bool {
    prefix { $0 != ":" }.lowercased() == other.prefix { $0 != ":" }.lowercased()
  }
}
