// SPDX-License-Identifier: Apache-2.0

import HaulCore
import TestSupport
import Testing

// Digests of "abc" as they stand in FIPS 180-2 and RFC 1321, and as `openssl base64` writes them.
private let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
private let sha256Text = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
private let sha512 =
  "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
  + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
private let sha512Text =
  "3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw=="
private let sha1Text = "qZk+NkcGgWq6PiVxeFDCbJzQ2J0="
private let md5Text = "kAFQmDzST7DWlj99KOF/cg=="

@Suite struct DigestFieldTests {
  private func shown(_ digests: [ExpectedDigest]) -> [String] {
    digests.map { "\($0.algorithm.rawValue) \($0.hex.prefix(8))" }
  }

  @Test(
    "Repr-Digest and Content-Digest",
    arguments: [
      (["sha-256=:\(sha256Text):"], ["sha256 ba7816bf"]),
      ([" sha-256 =:\(sha256Text):"], []),
      (["sha-512=:\(sha512Text):,  sha-256=:\(sha256Text):"], ["sha256 ba7816bf", "sha512 ddaf35a1"]),
      (["sha-512=:\(sha512Text):", "sha-256=:\(sha256Text):"], ["sha256 ba7816bf", "sha512 ddaf35a1"]),
      (["sha-256=:\(sha256Text):;q=\"a,b\";x, y=\"c\\\",d\""], ["sha256 ba7816bf"]),
      (["x=\"sha-256=:\(sha256Text):,\""], []),
      (["sha-256=:\(sha256Text):, sha-256=:AAAA:"], []),
      (["sha-256=:\(sha256Text)"], []), (["sha-256=\(sha256Text)"], []), (["sha-256=:\(sha256Text):x"], []),
      (["sha-256=:\(sha256Text.dropLast()):"], []), (["sha-256=::"], []), (["sha-256=:"], []),
      (["sha-256="], []), (["sha-256"], []), ([""], []), ([",,=,\"\\"], []),
      (["md5=:\(md5Text):, sha=:\(sha1Text):, unixsum=:AAAA:"], ["sha1 a9993e36", "md5 90015098"]),
      (["md5=:\(sha1Text):, sha-1=:\(sha1Text):, crc32c=:AAAA:"], ["sha1 a9993e36"]),
    ] as [([String], [String])])
  func structured(values: [String], found: [String]) {
    #expect(shown(DigestFieldText.structured(values)) == found)
  }

  @Test(
    "Digest",
    arguments: [
      (["SHA-256=\(sha256Text)"], ["sha256 ba7816bf"]),
      (
        ["sha-256=\(sha256Text), MD5=\(md5Text),SHA=\(sha1Text)"],
        ["sha256 ba7816bf", "md5 90015098", "sha1 a9993e36"]
      ),
      (["SHA-512=\(sha512Text)", "SHA-256=\(sha256Text)"], ["sha512 ddaf35a1", "sha256 ba7816bf"]),
      (["SHA-256=\(sha256)"], []), (["SHA-256=:\(sha256Text):"], []), (["CRC32c=AAAAAA=="], []), (["="], []),
      (["SHA-256=ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0="], []),
      (["SHA-256=ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0A"], []),
      (["SHA-256====================================================="], []),
    ] as [([String], [String])])
  func instance(values: [String], found: [String]) {
    #expect(shown(DigestFieldText.instance(values)) == found)
  }

  @Test(
    "the fields of stores",
    arguments: [
      ("X-Linked-Etag", "\"\(sha256)\"", "sha256"), ("X-Linked-Etag", sha256.uppercased(), "sha256"),
      ("x-linked-etag", "W/\"\(sha256)\"", "sha256"), ("X-Linked-Etag", "\"\(sha256.dropLast())\"", nil),
      ("X-Linked-Etag", "\"a9993e364706816aba3e25717850c26c9cd0d89d\"", nil), ("X-Linked-Etag", "\"", nil),
      ("x-amz-checksum-sha256", sha256Text, "sha256"), ("x-amz-checksum-sha256", sha256Text + "-5", nil),
      ("x-goog-hash", "crc32c=n03x6A==,md5=\(md5Text)", "md5"), ("x-goog-hash", "crc32c=n03x6A==", nil),
      ("Content-MD5", md5Text, nil), ("ETag", "\"\(sha256)\"", nil),
    ] as [(String, String, String?)])
  func stores(name: String, value: String, algorithm: String?) {
    let digests = ServerDigests(response(206, [(name, value)]), bodyIsWhole: false)
    #expect(digests.declared.map(\.digest.algorithm.rawValue) == (algorithm.map { [$0] } ?? []))
    #expect(digests.declared.allSatisfy { FieldName.isSame($0.field.rawValue, name) })
  }

  private enum FieldName {
    static func isSame(_ left: String, _ right: String) -> Bool { left.lowercased() == right.lowercased() }
  }

  @Test("a composite of parts and the digest of stored bytes that are sent otherwise say nothing")
  func void() {
    let composite = response(
      200, [("x-amz-checksum-sha256", sha256Text), ("x-amz-checksum-type", "Composite")])
    #expect(ServerDigests(composite, bodyIsWhole: true).isEmpty)
    let full = response(200, [("x-amz-checksum-sha256", sha256Text), ("x-amz-checksum-type", "FULL_OBJECT")])
    #expect(!ServerDigests(full, bodyIsWhole: true).isEmpty)
    let transcoded = response(
      200, [("x-goog-hash", "md5=\(md5Text)"), ("x-goog-stored-content-encoding", "gzip")])
    #expect(ServerDigests(transcoded, bodyIsWhole: true).isEmpty)
  }

  @Test("Content-Digest speaks of the file only where the body is the file")
  func content() {
    let head = response(206, [("Content-Digest", "sha-512=:\(sha512Text):, sha-256=:\(sha256Text):")])
    #expect(ServerDigests(head, bodyIsWhole: false).isEmpty)
    #expect(ServerDigests(head, bodyIsWhole: true).declared.map(\.field) == [.contentDigest])
    #expect(ServerDigests.ofBody(head)?.algorithm == .sha256)
  }

  @Test("of a redirect only X-Linked-Etag is about the file")
  func hop() {
    let head = response(
      302,
      [
        ("X-Linked-Etag", "\"\(sha256)\""), ("Repr-Digest", "sha-512=:\(sha512Text):"),
        ("Digest", "SHA=\(sha1Text)"),
      ])
    #expect(ServerDigests(hop: head).declared.map(\.field) == [.linkedETag])
  }

  @Test("no bytes crash the readers", arguments: 0..<200 as Range<UInt64>)
  func total(seed: UInt64) {
    var dice = SeededGenerator(seed: seed)
    let pieces = [
      "sha-256", "=", ":", ",", "\"", "\\", ";", " ", sha256Text, "é", "W/", sha256, "SHA", "\u{301}",
    ]
    let text = (0..<Int.random(in: 0...12, using: &dice)).map { _ in
      pieces[Int.random(in: 0..<pieces.count, using: &dice)]
    }.joined()
    for digest in DigestFieldText.structured([text, text]) + DigestFieldText.instance([text])
      + DigestFieldText.google([text])
    {
      #expect(digest.bytes.count == digest.algorithm.byteCount)
    }
    _ = (DigestFieldText.linkedETag(text), DigestFieldText.amazon(text), try? ExpectedDigest(text: text))
  }
}
