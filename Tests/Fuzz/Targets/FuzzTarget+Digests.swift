// SPDX-License-Identifier: Apache-2.0

import HaulCore

extension FuzzTarget {
  /// Every field in which a server may declare a digest: what is read has its algorithm's length, and reads the same
  /// when it is written as the standards say.
  static let digestFields = FuzzTarget("digest-fields") { input in
    let value = fieldValue(input)
    for digest in DigestFieldText.structured([value]) {
      try check(digest)
      let written = "\(dashed(digest.algorithm))=:\(base64(digest.bytes)):"
      try insist(DigestFieldText.structured([written]) == [digest], "\(written) reads differently")
    }
    for digest in DigestFieldText.instance([value]) {
      try check(digest)
      let written = "\(dashed(digest.algorithm))=\(base64(digest.bytes))"
      try insist(DigestFieldText.instance([written]) == [digest], "\(written) reads differently")
    }
    for digest in DigestFieldText.google([value]) {
      try insist(digest.algorithm == .md5 && digest.bytes.count == 16, "\(digest) in x-goog-hash")
    }
    for digest in [DigestFieldText.linkedETag(value), DigestFieldText.amazon(value)].compactMap(\.self) {
      try insist(digest.algorithm == .sha256, "a \(digest.algorithm) where only a SHA-256 can stand")
      try check(digest)
    }
  }

  /// `--checksum ALGORITHM:HEX`.
  static let checksum = FuzzTarget("checksum", mostBytes: 200) { input in
    guard let digest = try? ExpectedDigest(text: text(input)) else { return }
    try check(digest)
    let again = try ExpectedDigest(text: "\(dashed(digest.algorithm)):\(digest.hex)")
    try insist(again == digest, "\(digest) reads differently")
  }

  /// A list of digests: what it answers for a name is one of its lines, and a line that was written as `sha256sum`
  /// or BSD's tools do is read as it was.
  static let checksumFile = FuzzTarget("checksum-file", mostBytes: 1024) { input in
    if let list = try? ChecksumFile(input) {
      for entry in list.entries {
        try check(entry.digest)
        guard let name = entry.name else { continue }
        try insist(!name.isEmpty, "a line for nothing")
        guard let last = name.utf8.split(separator: 0x2F).last, let found = try? list.digest(of: text(last))
        else {
          continue
        }
        try insist(list.entries.contains { $0.digest == found }, "a digest that no line has")
      }
    }
    try lines(naming: input)
  }

  private static func lines(naming input: [UInt8]) throws {
    // Blanks and a star before a name belong to the form of the line.
    guard let first = input.first, ![0x20, 0x09, 0x2A].contains(first), input.count < 1000,
      let name = String(validating: input, as: UTF8.self),
      let digest = ExpectedDigest(.sha256, [UInt8](repeating: 0xA5, count: 32))
    else { return }
    let escaped = input.flatMap { byte -> [UInt8] in
      switch byte {
      case 0x5C: [0x5C, 0x5C]
      case 0x0A: [0x5C, 0x6E]
      case 0x0D: [0x5C, 0x72]
      default: [byte]
      }
    }
    let line = Array("\\\(digest.hex)  ".utf8) + escaped + [0x0A]
    let entries = try ChecksumFile(line).entries
    try insist(
      entries.count == 1 && entries[0].digest == digest
        && entries[0].name?.utf8.elementsEqual(name.utf8) == true,
      "\(name.debugDescription) reads as \(entries.first?.name?.debugDescription ?? "nothing")")
  }

  private static func check(_ digest: ExpectedDigest) throws {
    try insist(
      digest.bytes.count == digest.algorithm.byteCount, "a \(digest.algorithm) of \(digest.bytes.count) bytes"
    )
    try insist(ExpectedDigest(digest.algorithm, hex: digest.hex) == digest, "\(digest.hex) reads differently")
  }

  private static func dashed(_ algorithm: DigestAlgorithm) -> String {
    switch algorithm {
    case .sha256: "sha-256"
    case .sha512: "sha-512"
    case .sha1: "sha-1"
    case .md5: "md5"
    }
  }

  private static func base64(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var result: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let piece = bytes[start..<min(start + 3, bytes.count)]
      let word = (0..<3).reduce(0) { $0 << 8 | Int($1 < piece.count ? piece[start + $1] : 0) }
      for index in 0..<4 {
        result.append(index <= piece.count ? alphabet[word >> (18 - 6 * index) & 63] : UInt8(ascii: "="))
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
