// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

@Suite("HexDigest")
struct HexDigestTests {
  @Test(
    "reading",
    arguments: [
      ("00", [0]), ("ff", [255]), ("FF", [255]), ("aB09", [0xAB, 0x09]), ("", nil), ("0", nil), ("abc", nil),
      ("0g", nil), ("0x", nil), (" 00", nil), ("00 ", nil), ("\u{FF10}0", nil), ("0\u{301}", nil),
    ] as [(String, [UInt8]?)])
  func reading(_ text: String, _ bytes: [UInt8]?) {
    #expect(HexDigest(hex: text)?.bytes == bytes)
  }

  @Test("every byte is written and read back")
  func roundTrip() throws {
    let bytes = Array(UInt8.min...UInt8.max)
    let digest = HexDigest(bytes: bytes)
    #expect(digest.hex.utf8.count == 512)
    #expect(digest.hex.hasPrefix("000102"))
    #expect(HexDigest(hex: digest.hex) == digest)
  }

  @Test(
    "algorithms",
    arguments: [
      (.sha256, 32, "SHA-256", "sha256"), (.sha512, 64, "SHA-512", "sha512"), (.sha1, 20, "SHA-1", "sha1"),
      (.md5, 16, "MD5", "md5"),
    ] as [(DigestAlgorithm, Int, String, String)])
  func algorithms(_ algorithm: DigestAlgorithm, _ byteCount: Int, _ name: String, _ raw: String) {
    #expect(algorithm.byteCount == byteCount)
    #expect(algorithm.name == name)
    #expect(DigestAlgorithm(rawValue: raw) == algorithm)
  }
}
