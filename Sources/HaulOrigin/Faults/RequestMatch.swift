// SPDX-License-Identifier: Apache-2.0

/// Which requests of a resource a fault meets.
package indirect enum RequestMatch: Sendable {
  case every
  /// The nth request of this resource since it was put in place; the first is 1.
  case nth(Int)
  /// The nth request and all later ones.
  case sinceNth(Int)
  /// The nth request, the 2nth, the 3nth and so on.
  case everyNth(Int)
  /// All requests on one connection (`RequestRecord.connection`; the first accepted is 1).
  case connection(Int)
  case rangeStarts(at: Int)
  /// The range starts at this offset or later.
  case rangeStartsFrom(Int)
  case rangeContains(Int)
  case withRange
  case withoutRange
  case withHeader(String)
  case targetContains(String)
  case not(RequestMatch)
  case all([RequestMatch])
  /// Anything else. Runs on a connection thread with the origin locked: it must not call the origin.
  case custom(@Sendable (RequestHead) -> Bool)

  /// `ordinal`: of the request on its resource, from 1. `length`: of the content; ranges are resolved by it.
  func holds(for request: RequestHead, ordinal: Int, connection: Int, length: Int) -> Bool {
    func range() -> Range<Int>? { request.range?.resolved(length: length) }
    switch self {
    case .every: return true
    case .nth(let wanted): return ordinal == wanted
    case .sinceNth(let first): return ordinal >= first
    case .everyNth(let step): return ordinal % max(1, step) == 0
    case .connection(let wanted): return connection == wanted
    case .rangeStarts(let offset): return range()?.lowerBound == offset
    case .rangeStartsFrom(let offset): return range().map { $0.lowerBound >= offset } ?? false
    case .rangeContains(let offset): return range()?.contains(offset) ?? false
    case .withRange: return request.range != nil
    case .withoutRange: return request.range == nil
    case .withHeader(let name): return request.fields[name] != nil
    case .targetContains(let text): return request.target.contains(text)
    case .not(let other):
      return !other.holds(for: request, ordinal: ordinal, connection: connection, length: length)
    case .all(let parts):
      return parts.allSatisfy {
        $0.holds(for: request, ordinal: ordinal, connection: connection, length: length)
      }
    case .custom(let test): return test(request)
    }
  }
}
