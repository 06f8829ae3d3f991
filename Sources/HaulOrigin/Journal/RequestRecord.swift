// SPDX-License-Identifier: Apache-2.0

/// One request as the origin saw it.
package struct RequestRecord: Sendable {
  package enum Outcome: Sendable, Equatable {
    case inProgress
    /// Everything planned was handed to the kernel.
    case completed
    /// Cut by the origin itself: a close or a reset that was planned.
    case cut
    /// The client went away, or the origin was stopped.
    case aborted
  }

  /// Position in the journal, from 0.
  package let sequence: Int
  /// The connection it came on; the first accepted is 1.
  package let connection: Int
  /// Empty when the head could not be parsed.
  package let method: String
  package let target: String
  package let fields: [HeaderField]
  /// The Range field, parsed; nil when absent or of an ignored form.
  package let range: RangeRequest?
  /// Nil before the answer starts, and for a raw response or a reset.
  package internal(set) var status: Int?
  /// The content offset of the first body byte; nil when the body is not content.
  package internal(set) var contentStart: Int?
  /// Body bytes handed to the kernel, without chunked framing.
  package internal(set) var bodyBytesSent = 0
  /// The gate that holds the body right now.
  package internal(set) var heldAt: String?
  package internal(set) var outcome = Outcome.inProgress
  /// Nanoseconds on the monotonic clock.
  package let started: Int
  package internal(set) var ended: Int?

  /// Half-open content offsets handed to the kernel; nil when the body is not content.
  package var sentRange: Range<Int>? { contentStart.map { $0..<$0 + bodyBytesSent } }
}
