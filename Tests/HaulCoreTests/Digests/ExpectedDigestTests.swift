// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

private func digits(_ count: Int) -> String { String(repeating: "aB", count: count / 2) }

@Suite struct ExpectedDigestTests {
  @Test(
    "algorithm and digits, in any case, with or without dash",
    arguments: [
      ("sha256:", .sha256, 64), ("sha-256:", .sha256, 64), ("SHA-256:", .sha256, 64),
      ("Sha512:", .sha512, 128),
      ("sha-512:", .sha512, 128), ("sha1:", .sha1, 40), ("SHA-1:", .sha1, 40), ("md5:", .md5, 32),
      ("MD5:", .md5, 32),
    ] as [(String, DigestAlgorithm, Int)])
  func reading(prefix: String, algorithm: DigestAlgorithm, count: Int) throws {
    let digest = try ExpectedDigest(text: prefix + digits(count))
    #expect(digest.algorithm == algorithm && digest.hex == digits(count).lowercased())
    #expect(digest.isStrong == (count >= 64))
    for wrong in [count - 2, count - 1, count + 1, count + 2, 0] {
      #expect(throws: DigestProblem.wrongDigits(algorithm)) {
        try ExpectedDigest(text: prefix + digits(64).prefix(1) + digits(200).prefix(max(0, wrong - 1)))
      }
    }
    #expect(throws: DigestProblem.wrongDigits(algorithm)) {
      try ExpectedDigest(text: prefix + "g" + digits(count).dropFirst())
    }
  }

  @Test("what names no algorithm of ours says so")
  func unknown() {
    #expect(throws: DigestProblem.noAlgorithm) { try ExpectedDigest(text: digits(64)) }
    #expect(throws: DigestProblem.noAlgorithm) { try ExpectedDigest(text: "") }
    for name in ["", "sha3", "sha2560", "crc32c", "md5\u{301}"] {
      #expect(throws: DigestProblem.unknown(name)) { try ExpectedDigest(text: "\(name):" + digits(64)) }
    }
    #expect("\(DigestProblem.unknown("crc32c"))".contains("not computed"))
    #expect("\(DigestProblem.unknown("xy"))".contains("no algorithm xy"))
  }
}
