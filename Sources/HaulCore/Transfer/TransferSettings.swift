// SPDX-License-Identifier: Apache-2.0

/// What a transfer is told at its start.
package struct TransferSettings: Sendable {
  package var connections: ConnectionBudget.Choice = .automatic
  package var retry = RetryPolicy()
  package var policy = LeasePolicy()
  /// A connection that brings nothing for this long, in seconds, is replaced.
  package var silenceSeconds = 30.0
  /// A connection that is far behind the best one for this long, in seconds, is replaced.
  package var paceSeconds = 4.0
  /// Whether a body may end by the end of its connection: the user said so, or a digest will tell.
  package var acceptsUnframed = false
  /// Whether a digest from elsewhere will tell in the end whether the bytes belong together.
  package var hasTrustedDigest = false
  /// Whether a file that has changed on the server is begun anew, once, instead of failing.
  package var restartsOnChange = true
  /// Whether the first request already goes to where the URL that was given has once led.
  package var beginsByLink = false
  /// Whether the file may be a web page by its name, so that a page is no sign of somebody else's answer.
  package var mayBePage = false

  package init() {}
}

/// What an earlier run has left, as far as a transfer needs to know it.
package struct ResumedFile: Sendable {
  package var grid: ChunkGrid
  /// What needs no fetching.
  package var present: ByteRangeSet
  /// Compares the first response with what was stored of the earlier ones.
  package var change: @Sendable (Identity) -> ResourceChange?
  /// Whether it was begun from the source that is asked now. What another source has cannot make it obsolete.
  package var isSameSource: Bool

  package init(
    grid: ChunkGrid, present: ByteRangeSet, isSameSource: Bool = true,
    change: @escaping @Sendable (Identity) -> ResourceChange?
  ) {
    self.grid = grid
    self.present = present
    self.isSameSource = isSameSource
    self.change = change
  }
}
