// SPDX-License-Identifier: Apache-2.0

/// What a transfer is told at its start.
package struct TransferSettings: Sendable {
  package var connections: ConnectionBudget.Choice = .automatic
  package var retry = RetryPolicy()
  package var policy = LeasePolicy()
  /// A connection that brings nothing for this long, in seconds, is replaced.
  package var silenceSeconds = 30.0
  /// Whether a body may end by the end of its connection: the user said so, or a digest will tell.
  package var acceptsUnframed = false

  package init() {}
}

/// What an earlier run has left, as far as a transfer needs to know it.
package struct ResumedFile: Sendable {
  package var grid: ChunkGrid
  /// What needs no fetching.
  package var present: ByteRangeSet
  /// Compares the first response with what was stored of the earlier ones.
  package var change: @Sendable (Identity) -> ResourceChange?

  package init(
    grid: ChunkGrid, present: ByteRangeSet, change: @escaping @Sendable (Identity) -> ResourceChange?
  ) {
    self.grid = grid
    self.present = present
    self.change = change
  }
}

/// What the first accepted response told about the file.
package struct RemoteResource: Sendable, Equatable {
  package var identity: Identity
  /// Whether an answer with exactly the range asked for was seen. What `Accept-Ranges` claims does not count.
  package var honoursRanges: Bool
  package var framing: Framing
  /// The name in Content-Disposition, decoded but not made safe.
  package var suggestedName: String?

  package init(identity: Identity, honoursRanges: Bool, framing: Framing, suggestedName: String?) {
    self.identity = identity
    self.honoursRanges = honoursRanges
    self.framing = framing
    self.suggestedName = suggestedName
  }

  /// In bytes; nil where the server does not tell.
  package var length: Int? { identity.length }
}

/// What the owner of a ``TransferMachine`` is to do.
package enum TransferAction: Sendable, Equatable {
  /// Ask for `range`, or for the whole file without a Range field.
  case request(connection: Int, range: ByteRange?)
  /// End the request of a connection, then report it as ended.
  case cancel(connection: Int)
  /// Throw away every byte, durably, then call ``TransferMachine/restarted(now:)``.
  case startOver(why: String)
  /// Every byte has been received.
  case complete
  case fail(TransferFailure)
}

/// What becomes of a response whose head has been judged.
package enum HeadDecision: Sendable, Equatable {
  /// Its body begins at this offset of the file.
  case take(offset: Int)
  /// Read the body and forget it, if it is short.
  case discard
  /// Close the connection.
  case stop
  /// Ask again there, for the same range.
  case redirect(location: String)
}
