// SPDX-License-Identifier: Apache-2.0

/// Reads the fields in which servers declare digests. Total: whatever makes no sense is no digest.
package enum DigestFieldText {
  /// `Repr-Digest` and `Content-Digest` (RFC 9530): a dictionary of RFC 8941 with byte sequences. Its `sha` is
  /// SHA-1, which it deprecates like `md5`. Of one key that comes twice the last one counts.
  package static func structured(_ values: [String]) -> [ExpectedDigest] {
    var found = DigestSet()
    for member in members(values) {
      guard let (name, value) = pair(member), let algorithm = algorithm(named: name) else { continue }
      found[algorithm] = byteSequence(value).flatMap { Base64.decode($0, count: algorithm.byteCount) }
    }
    return found.all
  }

  /// `Digest` (RFC 3230): a comma list of `SHA-256=base64`. Its `SHA` is SHA-1.
  package static func instance(_ values: [String]) -> [ExpectedDigest] {
    list(values, algorithm(named:))
  }

  private static func algorithm(named name: String) -> DigestAlgorithm? {
    FieldText.equalsIgnoringCase(name, "SHA") ? .sha1 : DigestAlgorithm(named: name)
  }

  /// `x-goog-hash`: a comma list of which only `md5=base64` is of use here; crc32c is not computed.
  package static func google(_ values: [String]) -> [ExpectedDigest] {
    list(values) { FieldText.equalsIgnoringCase($0, "md5") ? .md5 : nil }
  }

  /// `X-Linked-Etag`: 64 hexadecimal digits, with or without quotes. What is shorter is a tag of Git's.
  package static func linkedETag(_ value: String) -> ExpectedDigest? {
    var digits = Array(value.utf8)[...]
    if digits.starts(with: "W/".utf8) { digits.removeFirst(2) }
    let quote = UInt8(ascii: "\"")
    if digits.count >= 2, digits.first == quote, digits.last == quote {
      digits = digits.dropFirst().dropLast()
    }
    return ExpectedDigest(.sha256, hex: String(decoding: digits, as: UTF8.self))
  }

  /// `x-amz-checksum-sha256`: base64. A composite one, `…-N`, is made of the parts' digests and says nothing.
  package static func amazon(_ value: String) -> ExpectedDigest? {
    Base64.decode(value, count: DigestAlgorithm.sha256.byteCount).flatMap { ExpectedDigest(.sha256, $0) }
  }

  private static func list(
    _ values: [String], _ algorithm: (String) -> DigestAlgorithm?
  ) -> [ExpectedDigest] {
    FieldText.listElements(values).compactMap { element in
      guard let (name, value) = pair(Array(element.utf8)[...]), let algorithm = algorithm(name) else {
        return nil
      }
      return Base64.decode(String(decoding: value, as: UTF8.self), count: algorithm.byteCount)
        .flatMap { ExpectedDigest(algorithm, $0) }
    }
  }

  /// The members of a dictionary, split at commas outside of strings.
  private static func members(_ values: [String]) -> [ArraySlice<UInt8>] {
    values.flatMap { value -> [ArraySlice<UInt8>] in
      let bytes = Array(value.utf8)
      var parts: [ArraySlice<UInt8>] = []
      var start = 0
      var index = 0
      var isInString = false
      while index < bytes.count {
        switch bytes[index] {
        case UInt8(ascii: "\\") where isInString: index += 1
        case UInt8(ascii: "\""): isInString.toggle()
        case UInt8(ascii: ",") where !isInString:
          parts.append(bytes[start..<index])
          start = index + 1
        default: break
        }
        index += 1
      }
      return parts + [bytes[min(start, bytes.count)...]]
    }
  }

  private static func pair(_ member: ArraySlice<UInt8>) -> (name: String, value: ArraySlice<UInt8>)? {
    let member = FieldText.trimmed(member)
    guard let equals = member.firstIndex(of: UInt8(ascii: "=")) else { return nil }
    return (String(decoding: member[..<equals], as: UTF8.self), member[(equals + 1)...])
  }

  /// The text between the colons of `:base64:`; parameters may follow.
  private static func byteSequence(_ value: ArraySlice<UInt8>) -> String? {
    let colon = UInt8(ascii: ":")
    guard value.first == colon, let end = value.dropFirst().firstIndex(of: colon) else { return nil }
    let rest = FieldText.trimmed(value[(end + 1)...])
    guard rest.isEmpty || rest.first == UInt8(ascii: ";") else { return nil }
    return String(decoding: value[(value.startIndex + 1)..<end], as: UTF8.self)
  }
}
