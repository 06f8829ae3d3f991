// SPDX-License-Identifier: Apache-2.0

package import HaulCore

/// What every request of one download has in common on the wire.
package struct TransportOptions: Sendable {
  /// PEM file with the certificates to trust, or nil for the system's.
  package var caFile: String?
  /// Name look-up, TCP and TLS together, in seconds.
  package var connectTimeout: Double
  package var userAgent: String
  package var proxies: ProxySettings

  package init(
    caFile: String? = nil, connectTimeout: Double = 30, userAgent: String,
    proxies: ProxySettings = ProxySettings()
  ) {
    self.caFile = caFile
    self.connectTimeout = connectTimeout
    self.userAgent = userAgent
    self.proxies = proxies
  }
}

/// The proxies of an environment, read once by the program and set explicitly on each handle, so that nothing
/// that changes the environment later can redirect a download.
package struct ProxySettings: Sendable, Equatable {
  package var http: String?
  package var https: String?
  package var exceptions: String?

  package init(http: String? = nil, https: String? = nil, exceptions: String? = nil) {
    self.http = http
    self.https = https
    self.exceptions = exceptions
  }

  /// Reads the usual variables. `HTTP_PROXY` in capitals is not one of them: in a CGI program a request's
  /// `Proxy:` field would set it.
  package init(environment: [String: String]) {
    func value(_ names: String...) -> String? {
      for name in names {
        if let text = environment[name], !text.isEmpty { return text }
      }
      return nil
    }
    http = value("http_proxy", "all_proxy", "ALL_PROXY")
    https = value("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
    exceptions = value("no_proxy", "NO_PROXY")
  }

  package func proxy(for origin: Origin) -> String? { origin.scheme == "https" ? https : http }
}

/// One request as it goes out.
package struct TransferRequest: Sendable {
  package var url: RemoteURL
  /// The bytes asked for, or nil to ask for the whole file without a Range field.
  package var range: ByteRange?
  /// Complete header lines ("Name: value"), without line ends. Free of control characters.
  package var headerLines: [String]
  /// Whether it must not use a connection that is open already.
  package var isFresh = false
  /// For Basic authentication, or nil to send none.
  package var credentials: Credentials?

  package init(
    url: RemoteURL, range: ByteRange?, headerLines: [String] = [], credentials: Credentials? = nil
  ) {
    self.url = url
    self.range = range
    self.headerLines = headerLines
    self.credentials = credentials
  }
}
