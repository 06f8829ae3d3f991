// SPDX-License-Identifier: Apache-2.0

import HaulCore
import HaulDigest
import Testing

@Suite("Digest")
struct DigestTests {
  /// Known answers for "abc" and for nothing: FIPS 180-2 and RFC 1321.
  @Test(
    "known answers",
    arguments: [
      (.sha256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      (.sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        .sha256, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
      (
        .sha512, "abc",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
          + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
      ),
      (.sha1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
      (.md5, "abc", "900150983cd24fb0d6963f7d28e17f72"),
    ] as [(DigestAlgorithm, String, String)])
  func vectors(_ algorithm: DigestAlgorithm, _ text: String, _ hex: String) throws {
    let digest = try Digest(algorithm)
    for byte in text.utf8 { withUnsafeBytes(of: byte) { digest.update($0) } }
    let bytes = digest.finish()
    #expect(HexDigest(bytes: bytes).hex == hex)
    #expect(bytes.count == algorithm.byteCount)
    if algorithm == .sha256 { #expect(Digest.sha256(of: text.utf8) == bytes) }
  }

  @Test("a million letters")
  func million() throws {
    let digest = try Digest(.sha256)
    let letters = [UInt8](repeating: UInt8(ascii: "a"), count: 1000)
    for _ in 0..<1000 { letters.withUnsafeBytes { digest.update($0) } }
    #expect(
      HexDigest(bytes: digest.finish()).hex
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test("a copy goes on alone", arguments: DigestAlgorithm.allCases)
  func copying(_ algorithm: DigestAlgorithm) throws {
    let first = try Digest(algorithm)
    Array("ab".utf8).withUnsafeBytes { first.update($0) }
    let second = try Digest(copying: first)
    Array("X".utf8).withUnsafeBytes { first.update($0) }
    Array("c".utf8).withUnsafeBytes { second.update($0) }
    let whole = try Digest(algorithm)
    Array("abc".utf8).withUnsafeBytes { whole.update($0) }
    #expect(second.finish() == whole.finish())
  }
}
