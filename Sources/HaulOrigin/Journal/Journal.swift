// SPDX-License-Identifier: Apache-2.0

/// Everything that happened at the origin so far. A value: a snapshot does not change any more.
package struct Journal: Sendable {
  /// In the order in which the heads were read.
  package internal(set) var requests: [RequestRecord] = []
  package internal(set) var connectionsAccepted = 0
  /// Of those, the ones over the limit.
  package internal(set) var connectionsRefused = 0
  /// Open now. A client's close counts when the origin notices it: at its next read or failed write.
  package internal(set) var openConnections = 0
  package internal(set) var peakConnections = 0
  /// Requests being answered now, refused ones included.
  package internal(set) var activeRequests = 0
  package internal(set) var peakRequests = 0

  /// Body bytes of all requests (or of one path), repetitions included.
  package func bodyBytesSent(path: String? = nil) -> Int {
    of(path).reduce(0) { $0 + $1.bodyBytesSent }
  }

  /// Content offsets sent at least once, as ascending half-open ranges that do not touch.
  package func sentRanges(path: String? = nil) -> [Range<Int>] {
    let parts = of(path).compactMap(\.sentRange).filter { !$0.isEmpty }
    var merged: [Range<Int>] = []
    for part in parts.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = merged.last, part.lowerBound <= last.upperBound {
        merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, part.upperBound)
      } else {
        merged.append(part)
      }
    }
    return merged
  }

  /// Different content bytes sent.
  package func distinctBytesSent(path: String? = nil) -> Int {
    sentRanges(path: path).reduce(0) { $0 + $1.count }
  }

  /// The ranges asked for, in order of arrival; nil for a request without one.
  package func requestedRanges(path: String? = nil) -> [RangeRequest?] { of(path).map(\.range) }

  /// Requests of a method, such as HEAD, which Haul must never send.
  package func count(method: String) -> Int {
    requests.reduce(0) { $0 + ($1.method == method ? 1 : 0) }
  }

  private func of(_ path: String?) -> [RequestRecord] {
    guard let path else { return requests }
    return requests.filter { $0.target == path || $0.target.hasPrefix(path + "?") }
  }

  // MARK: What the connections report

  mutating func connectionOpened(refused: Bool) {
    connectionsAccepted += 1
    if refused { connectionsRefused += 1 }
    openConnections += 1
    peakConnections = max(peakConnections, openConnections)
  }

  mutating func connectionClosed() { openConnections -= 1 }

  mutating func begin(_ request: RequestHead?, connection: Int, now: Int) -> Int {
    activeRequests += 1
    peakRequests = max(peakRequests, activeRequests)
    requests.append(
      RequestRecord(
        sequence: requests.count, connection: connection, method: request?.method ?? "",
        target: request?.target ?? "", fields: request?.fields ?? [], range: request?.range, started: now))
    return requests.count - 1
  }

  mutating func end(_ sequence: Int, _ outcome: RequestRecord.Outcome, now: Int) {
    activeRequests -= 1
    requests[sequence].outcome = outcome
    requests[sequence].heldAt = nil
    requests[sequence].ended = now
  }
}
