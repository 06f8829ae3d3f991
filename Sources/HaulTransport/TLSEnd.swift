// SPDX-License-Identifier: Apache-2.0

internal import CCurl
private import Synchronization

#if canImport(Glibc)
internal import Glibc
#endif

/// How a TLS connection ended: with close_notify, or with a bare FIN, which anybody on the way can send.
///
/// Where a body ends with its connection this is all that tells a whole file from a cut one, and libcurl takes
/// both for an end. **[measured, 7.88.1 with OpenSSL 3.0]** (It sets SSL_OP_IGNORE_UNEXPECTED_EOF, and its own BIO
/// hides the end from OpenSSL besides.) So OpenSSL is asked to tell of each close_notify that it reads.
package enum TLSEnd {
  /// Whether a cut can be told from an end. False where libcurl uses another TLS library than OpenSSL 3: then the
  /// end of a TLS connection proves nothing.
  package static var isTold: Bool { setObserver != nil }

  /// What tells the end of a body.
  package enum OfBody: Equatable, Sendable {
    /// Its head, or its last chunk; or, in the clear, nobody, which is judged elsewhere.
    case told
    /// Only the end of a TLS session, by its address. Without one, because libcurl did not name it, any end
    /// is a cut: a retry costs less than half of a file.
    case session(Int?)

    /// Once the connection has ended: whether the body has come to its end.
    package var isWhole: Bool {
      switch self {
      case .told: true
      case .session(nil): false
      case .session(let session?): TLSEnd.hasEnded(session)
      }
    }
  }

  fileprivate typealias Observer = @convention(c) (UnsafeRawPointer?, Int32, Int32) -> Void
  fileprivate typealias SetObserver = @convention(c) @Sendable (UnsafeMutableRawPointer?, Observer) -> Void

  /// `SSL_CTX_set_info_callback` of the libssl that libcurl itself has loaded: another one must not touch its
  /// contexts, so none is linked.
  fileprivate static let setObserver: SetObserver? = {
    #if canImport(Glibc)
    let name = "SSL_CTX_set_info_callback"
    guard CurlLibrary.tlsLibrary.hasPrefix("OpenSSL/3"), let symbol = dlsym(nil, name) else { return nil }
    return unsafeBitCast(symbol, to: SetObserver.self)
    #else
    return nil
    #endif
  }()

  /// The sessions (by address) that have said goodbye. OpenSSL's callback carries no context of ours, hence here.
  private static let ended = Mutex<Set<Int>>([])
  /// Addresses are used again, so there are never many; and forgetting one only calls an end a cut.
  private static let mostEnded = 10_000

  /// Has every connection that this handle opens observed.
  static func observe(_ handle: UnsafeMutableRawPointer) {
    if isTold { haul_easy_set_tls_context_function(handle, onTLSContext) }
  }

  /// Whether the other side of a session has sent close_notify.
  static func hasEnded(_ session: Int) -> Bool { ended.withLock { $0.contains(session) } }

  package static func saw(_ session: Int, begin: Bool) {
    ended.withLock { ended in
      if ended.count >= mostEnded { ended.removeAll() }
      if begin { ended.remove(session) } else { ended.insert(session) }
    }
  }
}

/// SSL_CB_HANDSHAKE_START and SSL_CB_READ_ALERT; the low byte of an alert is what it says, 0 = close_notify.
private let handshakeStart: Int32 = 0x10
private let readAlert: Int32 = 0x4004

private func onTLSContext(
  _ easy: UnsafeMutableRawPointer?, _ tls: UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?
) -> CURLcode {
  TLSEnd.setObserver?(tls, onTLSEvent)
  return CURLE_OK
}

private func onTLSEvent(_ session: UnsafeRawPointer?, _ what: Int32, _ value: Int32) {
  // A new session may have the address of one that is gone.
  if what == handshakeStart { TLSEnd.saw(Int(bitPattern: session), begin: true) }
  if what == readAlert, value & 0xff == 0 { TLSEnd.saw(Int(bitPattern: session), begin: false) }
}
