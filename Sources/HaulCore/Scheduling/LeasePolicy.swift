// SPDX-License-Identifier: Apache-2.0

/// How much is given to a connection at a time, and when taking from another one pays.
package struct LeasePolicy: Sendable {
  /// The first request, whose answer tells the length, in bytes. A file that fits into it costs one request.
  package var firstRequest = 4 << 20
  /// How long one lease should last, in seconds: short enough to correct a wrong guess, long enough that the
  /// gap between two requests does not count.
  package var leaseSeconds = 2.0
  /// A fast connection's lease is not longer than this, in bytes, so that the connections stay close together
  /// and the frontier, with the digest behind it, moves steadily ...
  package var fastLease = 16 << 20
  /// ... but it lasts at least this many round trips, one of which is lost between two requests.
  package var leaseRoundTrips = 50.0
  /// What a connection without a measured rate gets, in bytes.
  package var unmeasuredLease = 4 << 20
  /// Stealing must save at least this long, in seconds, beside the round trips of a new request and of the
  /// victim's new connection.
  package var stealSeconds = 0.1
  package var stealRoundTrips = 3.0
  package var shortestStall = 0.5
  package var stallRoundTrips = 5.0
  /// What is left of a lease is not cut into pieces below this, in bytes.
  package var smallestPiece = 64 << 10

  package init() {}

  /// The length of a lease in bytes, before it is cut to what is missing there.
  /// - Parameters:
  ///   - rate: bytes a second of this connection, or of its siblings where it is new.
  ///   - roundTrip: seconds.
  ///   - remaining: bytes that are missing and not leased.
  func length(rate: Double?, roundTrip: Double, remaining: Int, connections: Int) -> Int {
    let byShare = max(1, remaining / (2 * max(1, connections)))
    guard let rate else { return min(unmeasuredLease, byShare) }
    let byRoundTrips = rate * leaseRoundTrips * roundTrip
    let byTime = max(min(rate * leaseSeconds, Double(fastLease)), byRoundTrips)
    return max(1, min(Int(min(byTime, 1e15)), byShare))
  }

  /// A connection without a byte for so long, in seconds, stands still as far as the end of a file is concerned.
  func stallSeconds(roundTrip: Double) -> Double { max(shortestStall, stallRoundTrips * roundTrip) }

  /// Where the far half of what is left of a lease begins; nil where it is too short to be worth two requests. At a
  /// chunk border, so that no chunk is summed twice, unless there is none: at the end of the file waiting for the
  /// slowest connection costs more than reading a chunk back.
  func cut(_ left: ByteRange, grid: ChunkGrid) -> Int? {
    let half = left.lower + max(0, left.count - 1) / 2
    let border = grid.border(after: half)
    if border < left.upper, border > left.lower { return border }
    let place = half / smallestPiece * smallestPiece
    guard place - left.lower >= smallestPiece, left.upper - place >= smallestPiece else { return nil }
    return place
  }

  /// Whether a victim that needs `seconds` more is worth stealing from. A file that fits into the first request
  /// is only taken apart where that request would last longer than a lease should.
  func isWorthStealing(seconds: Double, roundTrip: Double, fileLength: Int) -> Bool {
    let least = fileLength <= firstRequest ? leaseSeconds : stealSeconds
    return seconds > least + stealRoundTrips * roundTrip
  }
}
