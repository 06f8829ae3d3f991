// SPDX-License-Identifier: Apache-2.0

/// Scheme, host and port: what secrets and limits belong to.
package struct Origin: Hashable, Sendable {
  /// In lower case.
  package let scheme: String
  /// In lower case; an IPv6 address has its brackets.
  package let host: String
  package let port: Int

  /// - Parameter port: nil for the scheme's own: 443 for https, else 80.
  package init(scheme: String, host: String, port: Int? = nil) {
    self.scheme = FieldText.lowercased(scheme)
    let lowered = FieldText.lowercased(host)
    self.host =
      lowered.utf8.contains(UInt8(ascii: ":")) && !lowered.utf8.starts(with: "[".utf8)
      ? "[\(lowered)]" : lowered
    self.port = port ?? Self.defaultPort(self.scheme)
  }

  /// `https://example.org`, with the port only where it is not the scheme's own.
  package var text: String {
    port == Self.defaultPort(scheme) ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
  }

  private static func defaultPort(_ scheme: String) -> Int { scheme == "https" ? 443 : 80 }
}
