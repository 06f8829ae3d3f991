// SPDX-License-Identifier: Apache-2.0

/// A contiguous run of bytes given to one connection as one request.
package struct Lease: Sendable, Equatable {
  /// What this lease has to bring. Its end moves towards the front when another connection steals from it.
  package var range: ByteRange
  /// Where the request itself ends: past `range.upper` once something was stolen.
  package let requestEnd: Int
  /// The offset of the next byte that is due.
  package var position: Int

  package init(_ range: ByteRange) {
    self.range = range
    requestEnd = range.upper
    position = range.lower
  }

  package var remaining: ByteRange { ByteRange(position, range.upper) }
  package var isDone: Bool { position >= range.upper }
  /// Whether the response goes on after what is wanted of it, so that its connection must be cut.
  package var isCutShort: Bool { requestEnd > range.upper }
}
