// SPDX-License-Identifier: Apache-2.0

/// A fault and the requests that it meets. Several rules may meet one request; they apply in order.
package struct FaultRule: Sendable {
  package var fault: Fault
  package var match: RequestMatch
  /// Only the first so many matching requests are met. Nil: all.
  package var times: Int?
  /// Requests met so far.
  package internal(set) var hits = 0

  package init(_ fault: Fault, on match: RequestMatch = .every, times: Int? = nil) {
    self.fault = fault
    self.match = match
    self.times = times
  }
}

extension Fault {
  /// `.closeAfter(1000).on(.nth(2))` reads better in a list than the initializer.
  package func on(_ match: RequestMatch, times: Int? = nil) -> FaultRule {
    FaultRule(self, on: match, times: times)
  }
}
