// SPDX-License-Identifier: Apache-2.0

internal import CCurl

/// The linked libcurl as a whole.
package enum CurlLibrary {
  /// Initialised once, on first use, by whichever thread is first (the language sees to that).
  static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  /// Its version, such as "7.88.1".
  package static var version: String {
    guard let info = curl_version_info(haul_version_now), let text = info.pointee.version else { return "?" }
    return String(cString: text)
  }

  /// The TLS library that it uses, such as "OpenSSL/3.0.22".
  static var tlsLibrary: String {
    guard let info = curl_version_info(haul_version_now), let text = info.pointee.ssl_version else {
      return ""
    }
    return String(cString: text)
  }

  /// Whether the linked version is at least the floor that the options here need (7.88).
  package static var isRecentEnough: Bool {
    guard let info = curl_version_info(haul_version_now) else { return false }
    return info.pointee.version_num >= 0x07_58_00
  }
}
