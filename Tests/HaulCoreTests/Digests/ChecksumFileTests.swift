// SPDX-License-Identifier: Apache-2.0

import HaulCore
import TestSupport
import Testing

private let a64 = String(repeating: "a1", count: 32)
private let b64 = String(repeating: "b2", count: 32)
private let c128 = String(repeating: "c3", count: 64)
private let d32 = String(repeating: "d4", count: 16)
private let e40 = String(repeating: "e5", count: 20)

@Suite struct ChecksumFileTests {
  private func find(_ name: String, in text: String) throws -> String {
    let digest = try ChecksumFile(Array(text.utf8)).digest(of: name)
    return "\(digest.algorithm.rawValue):\(digest.hex)"
  }

  @Test(
    "one line of every form",
    arguments: [
      ("\(a64)  f.iso", "sha256"), ("\(a64) *f.iso", "sha256"), ("\(a64) f.iso", "sha256"),
      ("\(a64)\tf.iso", "sha256"), ("\(a64)  ./f.iso", "sha256"), ("\(a64)  dir/sub/f.iso\r", "sha256"),
      ("\(a64.uppercased())  f.iso", "sha256"), ("\(c128)  f.iso", "sha512"), ("\(e40)  f.iso", "sha1"),
      ("\(d32)  f.iso", "md5"), ("SHA256 (f.iso) = \(a64)", "sha256"), ("SHA512 (f.iso) = \(c128)", "sha512"),
      ("MD5 (dir/f.iso) = \(d32)", "md5"), ("SHA1 (f.iso) = \(e40)", "sha1"),
      ("SHA256(f.iso)= \(a64)", "sha256"),
      ("SHA2-256 (f.iso) = \(b64)\n\(a64)  f.iso", "sha256"), ("\u{FEFF}\(a64)  f.iso", "sha256"),
      ("# comment\n\n; other\n-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\(a64)  f.iso\n", "sha256"),
      ("\(b64)  g.iso\n\(a64)  f.iso\n\(b64)  f.iso.sig", "sha256"), (a64, "sha256"),
      ("\(a64) \n\n", "sha256"),
      ("\(d32)  f.iso\n\(a64)  f.iso\n\(e40)  f.iso", "sha256"), ("\(a64)  f.iso\n\(a64)  x/f.iso", "sha256"),
    ])
  func forms(text: String, algorithm: String) throws {
    let found = try find("f.iso", in: text)
    let wanted = ["sha256": a64, "sha512": c128, "sha1": e40, "md5": d32]
    #expect(found == "\(algorithm):\(wanted[algorithm] ?? "")")
  }

  @Test(
    "names with everything in them",
    arguments: [
      ("\\\(a64)  na\\\\me", "na\\me"), ("\\\(a64)  a\\nb", "a\nb"), ("\\SHA256 (a\\\\b) = \(a64)", "a\\b"),
      ("SHA256 (f (1).iso) = \(a64)", "f (1).iso"), ("\(a64)  f (1).iso", "f (1).iso"),
      ("\(a64)  *star", "star"), ("\(a64)  naïve.iso", "naïve.iso"), ("\(a64)  .hidden", "hidden"),
      ("\(a64)  with space.iso", "with space.iso"), ("SHA256 (a) = b) = \(a64)", "a) = b"),
    ])
  func names(line: String, name: String) throws {
    #expect(try find(name, in: line + "\n\(b64)  other") == "sha256:\(a64)")
  }

  @Test("absence, contradiction and nonsense are errors that say what is there")
  func errors() throws {
    #expect(throws: ChecksumFileProblem.missing("f", listed: "a, b/c")) {
      try find("f", in: "\(a64)  a\n\(b64)  b/c")
    }
    #expect(throws: ChecksumFileProblem.missing("f", listed: "f.sig")) { try find("f", in: "\(a64)  f.sig") }
    #expect(throws: ChecksumFileProblem.missing("a", listed: "aa")) { try find("a", in: "\(a64)  aa") }
    #expect(throws: ChecksumFileProblem.ambiguous("f", listed: "x/f, y/f")) {
      try find("f", in: "\(a64)  x/f\n\(b64)  y/f")
    }
    #expect(
      throws: ChecksumFileProblem.missing("f", listed: "a digest without a name, a digest without a name")
    ) {
      try find("f", in: "\(a64)\n\(b64)")
    }
    let many = (0..<14).map { "\(a64)  n\($0)" }.joined(separator: "\n")
    #expect(
      throws: ChecksumFileProblem.missing(
        "f", listed: (0..<10).map { "n\($0)" }.joined(separator: ", ") + " and 4 more")
    ) {
      try find("f", in: many)
    }
    for text in [
      "", "\n", "<html>", "\(a64)f.iso", "\(a64.dropLast())  f", "SHA256 (f) = \(d32)", "SHA256 () = \(a64)",
      "zz (f) = \(a64)", ") (",
    ] {
      #expect(throws: ChecksumFileProblem.noDigest, "\(text)") { try find("f", in: text) }
    }
  }

  @Test("size and lines are bounded")
  func bounds() {
    #expect(throws: ChecksumFileProblem.tooLarge) {
      try ChecksumFile([UInt8](repeating: 0x0A, count: ChecksumFile.mostBytes + 1))
    }
    let long = String(repeating: "x", count: ChecksumFile.mostLineBytes + 1)
    #expect(throws: ChecksumFileProblem.longLine(2)) { try find("f", in: "\(a64)  f\n" + long) }
  }

  @Test("no bytes crash the reader", arguments: 0..<200 as Range<UInt64>)
  func total(seed: UInt64) {
    var dice = SeededGenerator(seed: seed)
    let pieces = [
      a64, d32, " ", "*", "\\", "\n", "\r", "(", ")", "=", "SHA256", "\u{FEFF}", "f", "/", "#", "\0",
    ]
    let text = (0..<Int.random(in: 0...20, using: &dice)).map { _ in
      pieces[Int.random(in: 0..<pieces.count, using: &dice)]
    }.joined()
    let list = try? ChecksumFile(Array(text.utf8) + dice.bytes(Int.random(in: 0...9, using: &dice)))
    for name in ["f", "", "/", "download"] { _ = try? list?.digest(of: name) }
  }
}
