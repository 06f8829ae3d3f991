// SPDX-License-Identifier: Apache-2.0

/// What holds for the whole origin. May be changed while it runs (`Origin.configure`), except for the port.
package struct OriginConfiguration: Sendable {
  /// How a connection or request over its limit is turned away.
  package enum Refusal: Sendable, Equatable {
    /// `retryAfter` is sent as it is: seconds or a date.
    case status(Int, retryAfter: String? = nil)
    case reset
  }

  package struct Limit: Sendable, Equatable {
    package var count: Int
    package var refusal: Refusal

    package init(_ count: Int, refusal: Refusal = .status(503)) {
      self.count = count
      self.refusal = refusal
    }
  }

  /// On 127.0.0.1; 0 lets the system choose.
  package var port: UInt16 = 0
  /// Connections served at once. A refused one gets its answer to the first request and is closed.
  package var connectionLimit: Limit?
  /// Requests answered at once. A refused one leaves its connection open.
  package var requestLimit: Limit?
  /// Cap of each connection in body bytes per second, over all its requests. A lower one of the resource
  /// wins.
  package var bytesPerSecondPerConnection: Int?
  /// Cap of all connections together, shared in fair turns.
  package var bytesPerSecondTotal: Int?
  /// Requests after which a connection is closed. Nil: no end.
  package var requestsPerConnection: Int?
  /// Milliseconds without a request after which a connection is closed. Nil: never.
  package var idleTimeout: Int?
  /// SO_SNDBUF of new connections in bytes; small values keep "handed to the kernel" close to "received".
  package var sendBuffer: Int?

  package init() {}
}
