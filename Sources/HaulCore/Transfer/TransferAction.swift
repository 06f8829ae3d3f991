// SPDX-License-Identifier: Apache-2.0

/// What the owner of a ``TransferMachine`` is to do.
package enum TransferAction: Sendable, Equatable {
  case request(connection: Int, PartRequest)
  /// End the request of a connection, then report it as ended.
  case cancel(connection: Int)
  /// Throw away every byte, durably, then call ``TransferMachine/restarted(now:)``.
  case startOver(TransferFailure)
  /// Another place has answered, on this connection: choose chunks that are there, call
  /// ``TransferMachine/compare(with:mayCome:now:dice:)``, and let requests that compare go to that place.
  case compare(connection: Int)
  /// The chunks to compare have come: call ``TransferMachine/compared(isEqual:now:dice:)``.
  case judgeComparison
  /// Every byte has been received.
  case complete
  case fail(TransferFailure)
}

/// What becomes of a response whose head has been judged.
package enum HeadDecision: Sendable, Equatable {
  /// After its first `skip` bytes, which are not wanted, its body goes on at this offset of the file.
  case take(offset: Int, skip: Int = 0)
  /// Read the body and forget it, if it is short.
  case discard
  /// Close the connection.
  case stop
  /// Ask again there, for the same range.
  case redirect(location: String)
}
