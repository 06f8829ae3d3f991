// SPDX-License-Identifier: Apache-2.0

internal import CCurl

/// How one request ended. It says nothing about whether the bytes were the right ones: libcurl calls a 206 for
/// another range a success.
package enum TransferOutcome: Sendable {
  /// The message was complete by its own framing.
  case finished
  /// Its delegate had enough, or did not want it.
  case stopped
  case failed(TransportFailure)
}

/// A failure below HTTP.
package struct TransportFailure: Error, Sendable {
  package enum Kind: Sendable {
    case resolve, connect, timeout, interrupted, tls, certificate, proxy, malformed, local
    /// A head without measure. Another attempt may meet a saner answer.
    case overfull
    /// The port does not speak TLS.
    case notTLS
    /// The file of certificates to trust cannot be read, or is none.
    case caFile
  }

  package let kind: Kind
  /// libcurl's own words.
  package let message: String

  package init(kind: Kind, message: String) {
    self.kind = kind
    self.message = message
  }

  /// Whether the same request may succeed later. A certificate that is wrong stays wrong.
  package var isPassing: Bool {
    switch kind {
    case .resolve, .connect, .timeout, .interrupted, .tls, .proxy, .overfull: true
    case .certificate, .malformed, .local, .notTLS, .caFile: false
    }
  }

  /// - Parameter isInHead: whether it failed before the head of a response was complete.
  init(code: CURLcode, detail: String, isInHead: Bool) {
    let text = detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
    // A header line above libcurl's own 100 KB comes out as "no memory", from 8.6 on as "too large" (100).
    if isInHead, code == CURLE_OUT_OF_MEMORY || code.rawValue == 100 {
      self.init(kind: .overfull, message: "a header line that is too long")
    } else if code == CURLE_SSL_CONNECT_ERROR, Self.notTLS.contains(where: text.contains) {
      self.init(kind: .notTLS, message: "the port does not speak TLS (\(text))")
    } else {
      self.init(kind: Self.kind(of: code), message: text)
    }
  }

  /// How OpenSSL calls an answer that is no TLS at all.
  private static let notTLS = ["wrong version number", "packet length too long", "http request"]

  private static func kind(of code: CURLcode) -> Kind {
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST: .resolve
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: .proxy
    case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED: .connect
    case CURLE_OPERATION_TIMEDOUT: .timeout
    case CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_AGAIN,
      CURLE_SEND_FAIL_REWIND, CURLE_HTTP2, CURLE_HTTP2_STREAM:
      .interrupted
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_SHUTDOWN_FAILED: .tls
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
      CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_CRL_BADFILE, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
      CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_ENGINE_NOTFOUND:
      .certificate
    case CURLE_SSL_CACERT_BADFILE: .caFile
    case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT,
      CURLE_BAD_CONTENT_ENCODING:
      .malformed
    default: .local
    }
  }
}
