// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

@Suite struct DigestLedgerTests {
  private let first = ByteRange(0, 10)
  private let second = ByteRange(10, 20)

  private func digest(_ byte: UInt8, _ algorithm: DigestAlgorithm = .sha256) -> ExpectedDigest {
    ExpectedDigest(algorithm, [UInt8](repeating: byte, count: algorithm.byteCount))!
  }

  private func hex(_ byte: UInt8) -> String { digest(byte).hex }

  private func linked(_ byte: UInt8) -> ServerDigests {
    ServerDigests(response(206, [("X-Linked-Etag", hex(byte))]), bodyIsWhole: false)
  }

  /// Base64 of 32 equal bytes: "AQEB…" and the like have a period of four letters.
  private static let ones = String(repeating: "AQEB", count: 10) + "AQE="
  private static let twos = String(repeating: "AgIC", count: 10) + "AgI="

  private func said(_ name: String, _ value: String) -> ServerDigests {
    ServerDigests(response(206, [(name, value)]), bodyIsWhole: false)
  }

  @Test("what every response says alike counts")
  func agreed() {
    var ledger = DigestLedger()
    #expect(ledger.best() == nil && ledger.identity == nil && ledger.neededAlgorithm == nil)
    ledger.note(linked(1), range: first)
    ledger.note(ServerDigests(), range: second)
    ledger.note(linked(1), range: second)
    #expect(ledger.best() == DeclaredDigest(digest(1), in: .linkedETag))
    #expect(ledger.identity == digest(1) && ledger.neededAlgorithm == .sha256)
    #expect(ledger.best(among: [.md5, .sha512]) == nil)
  }

  @Test(
    "what differs between responses counts for nothing, for good",
    arguments: ["Repr-Digest", "x-amz-checksum-sha256"])
  func disputed(name: String) {
    func value(_ text: String) -> String { name == "Repr-Digest" ? "sha-256=:\(text):" : text }
    var ledger = DigestLedger()
    ledger.note(said(name, value(Self.ones)), range: first)
    #expect(ledger.best()?.digest == digest(1))
    ledger.note(said(name, value(Self.twos)), range: second)
    ledger.note(said(name, value(Self.ones)), range: first)
    #expect(ledger.best() == nil && ledger.identity == nil && ledger.neededAlgorithm == nil)
    // Another field is not touched by that.
    ledger.note(linked(3), range: second)
    #expect(ledger.best()?.digest == digest(3))
  }

  @Test("what an earlier run has kept decides alone, whatever the server says")
  func kept() {
    var ledger = DigestLedger()
    ledger.note(linked(1), range: first)
    ledger.note(ServerDigests(earlier: digest(2)), range: nil)
    #expect(ledger.best()?.digest == digest(2))
    ledger = DigestLedger()
    ledger.note(ServerDigests(earlier: digest(2, .sha512)), range: nil)
    ledger.note(linked(1), range: first)
    #expect(ledger.best()?.digest == digest(2, .sha512) && ledger.neededAlgorithm == .sha512)
  }

  @Test("Digest of a part waits for the response for another range")
  func partsDigest() {
    var ledger = DigestLedger()
    ledger.note(said("Digest", "SHA-256=\(Self.ones)"), range: first)
    #expect(ledger.best() == nil && ledger.neededAlgorithm == .sha256)
    ledger.note(said("Digest", "SHA-256=\(Self.ones)"), range: first)
    #expect(ledger.best() == nil, "the same part again")
    ledger.note(said("Digest", "SHA-256=\(Self.ones)"), range: second)
    #expect(ledger.best()?.field == .digest && ledger.identity == nil)
  }

  @Test("Digest of the whole file counts at once")
  func wholeDigest() {
    var ledger = DigestLedger()
    ledger.note(said("Digest", "SHA-256=\(Self.ones)"), range: nil)
    #expect(ledger.best()?.digest == digest(1))
  }

  @Test("two fields that contradict each other say nothing; a third algorithm still does")
  func contradiction() {
    var ledger = DigestLedger()
    ledger.note(linked(1), range: first)
    ledger.note(said("x-amz-checksum-sha256", Self.twos), range: first)
    #expect(ledger.best() == nil)
    ledger.note(said("x-goog-hash", "md5=AQEBAQEBAQEBAQEBAQEBAQ=="), range: first)
    #expect(ledger.best()?.digest.algorithm == .md5 && ledger.identity == nil)
  }

  @Test("the user's digest decides alone, and only what was computed is compared")
  func verdicts() {
    var ledger = DigestLedger()
    ledger.note(linked(1), range: first)
    var computed = DigestSet()
    #expect(DigestVerdict.judge(computed, wanted: nil, declared: ledger) == .unchecked)
    computed[.sha256] = digest(1).bytes
    #expect(
      DigestVerdict.judge(computed, wanted: nil, declared: ledger) == .matches(digest(1), field: .linkedETag))
    #expect(DigestVerdict.judge(computed, wanted: nil, declared: DigestLedger()) == .unchecked)
    #expect(
      DigestVerdict.judge(computed, wanted: digest(1), declared: ledger) == .matches(digest(1), field: nil))
    #expect(
      DigestVerdict.judge(computed, wanted: digest(2), declared: ledger)
        == .differs(digest(2), found: digest(1).bytes, field: nil))
    let other = digest(2, .md5)
    #expect(DigestVerdict.judge(computed, wanted: other, declared: ledger) == .notComputed(other))
    computed[.sha256] = digest(9).bytes
    #expect(
      DigestVerdict.judge(computed, wanted: nil, declared: ledger)
        == .differs(digest(1), found: digest(9).bytes, field: .linkedETag))
  }
}
