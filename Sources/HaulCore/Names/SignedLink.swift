// SPDX-License-Identifier: Apache-2.0

/// Links that carry a signature and run out after a while.
package enum SignedLink {
  /// Names of query parameters that only such links have (S3, CloudFront, Google, Azure, and many others).
  private static let names: Set<String> = [
    "x-amz-expires", "x-amz-signature", "x-goog-expires", "x-goog-signature", "expires", "signature", "sig",
    "se",
  ]

  /// Whether the query of `url` has a parameter that signs it or limits its life.
  package static func isSigned(_ url: String) -> Bool {
    let bare = url.utf8.prefix { $0 != UInt8(ascii: "#") }
    guard let mark = bare.firstIndex(of: UInt8(ascii: "?")) else { return false }
    return bare[bare.index(after: mark)...].split(separator: UInt8(ascii: "&")).contains { parameter in
      let name = parameter.prefix { $0 != UInt8(ascii: "=") }
      return names.contains(FieldText.lowercased(String(decoding: name, as: UTF8.self)))
    }
  }
}
