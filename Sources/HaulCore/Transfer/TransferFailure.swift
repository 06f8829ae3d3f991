// SPDX-License-Identifier: Apache-2.0

/// Why a request, and in the end a transfer, brought nothing.
package struct TransferFailure: Error, Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    /// Below HTTP: names, connections, cuts, silence.
    case network
    /// The server's certificate is not trusted.
    case untrusted
    /// The port does not speak TLS.
    case notTLS
    /// The file of certificates to trust is of no use.
    case caFile
    /// The server said no.
    case refused(status: Int)
    /// The file on the server is another one than the one begun.
    case changed
    /// What an earlier run left came from another source, and that one's file is another one.
    case otherFile
    /// The link leads to another place now, and nothing shows that what is there is the same file.
    case elsewhere
    /// The server's answer is not what HTTP allows.
    case brokenProtocol
    /// A body without a length whose end cannot be told from a cut.
    case unframed
    /// This machine's own fault: no memory, no descriptors.
    case local
  }

  package var kind: Kind
  /// For people; may contain text from a server.
  package var message: String

  package init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  static let unframed = TransferFailure(
    .unframed, "the server tells no length, so the end of its answer cannot be told from a cut")
}
