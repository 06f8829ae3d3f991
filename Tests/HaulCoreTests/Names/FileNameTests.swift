// SPDX-License-Identifier: Apache-2.0

import HaulCore
import TestSupport
import Testing

@Suite("FileName")
struct FileNameTests {
  @Test(
    "a dangerous name is made harmless",
    arguments: [
      ("debian-13.iso", "debian-13.iso"),
      ("../../.bashrc", "bashrc"),
      ("..\\..\\x", "x"),
      ("/abs", "abs"),
      ("C:\\temp\\x.exe", "x.exe"),
      (".ssh", "ssh"),
      ("-rf", "rf"),
      (".-. -rf", "rf"),
      ("a/-rf", "rf"),
      ("x. . ", "x"),
      ("", "download"), (".", "download"), ("..", "download"), ("...", "download"), ("/", "download"),
      ("a/", "download"), ("---", "download"), (" ", "download"), ("\u{0}", "download"),
      ("a\u{0}b", "ab"), ("a\r\nb", "ab"), ("a\u{1B}[31mb", "a[31mb"), ("a\u{7F}\u{9B}b", "ab"),
      ("a\u{202E}gpj.exe", "agpj.exe"), ("\u{2066}\u{200F}a\u{061C}", "a"), ("\u{202E}.x", "x"),
      // Dropping something may bring nothing dangerous to the front or the end.
      ("\u{0}.x", "x"), ("x.\u{0}", "x"), (".\u{0}.x", "x"),
      ("CON", "_CON"), ("con.txt", "_con.txt"), ("Lpt1 .x", "_Lpt1 .x"), ("nul.tar.gz", "_nul.tar.gz"),
      ("COM\u{B9}", "_COM\u{B9}"), ("CONsole", "CONsole"), ("COM10", "COM10"), ("aux/x", "x"),
      ("x.haul-part", "x.haul-part_"), ("x.haul", "x.haul_"), ("x.HAUL", "x.HAUL_"), (".haul", "haul"),
      ("x.haul ", "x.haul_"), ("x.haul.", "x.haul_"), ("xhaul", "xhaul"),
      ("x.haul-part.gz", "x.haul-part.gz"),
      ("caf\u{E9} \u{1F600}.iso", "caf\u{E9} \u{1F600}.iso"),
      ("%2e%2e%2fx", "%2e%2e%2fx"),
      // With a combining mark behind it a delimiter is another `Character`, but the same byte on disk.
      ("..\u{301}/\u{301}x", "\u{301}x"), (".\u{301}x", "\u{301}x"), ("a\\\u{301}b", "\u{301}b"),
    ])
  func names(_ raw: String, _ expected: String) {
    #expect(Array(FileName.sanitise(raw).utf8) == Array(expected.utf8))
    check(FileName.sanitise(raw))
  }

  @Test(
    "a long name is cut between characters",
    arguments: [
      (String(repeating: "a", count: 239), 239),
      (String(repeating: "a", count: 240), 239),
      (String(repeating: "a", count: 4096), 239),
      // Two, four and eight bytes a character.
      (String(repeating: "\u{E9}", count: 300), 238),
      (String(repeating: "\u{1F600}", count: 300), 236),
      (String(repeating: "\u{1F1E9}\u{1F1EA}", count: 300), 232),
      // The cut falls behind a suffix of ours, a dot, a space, a device.
      (String(repeating: "a", count: 234) + ".haul" + "xyz", 239),
      (String(repeating: "a", count: 229) + ".haul-part" + "xyz", 239),
      (String(repeating: "a", count: 238) + ".xyz", 239),
      (String(repeating: "a", count: 238) + ".x z", 238),
      (String(repeating: "a", count: 200) + String(repeating: " ", count: 100) + "x", 200),
      ("con" + String(repeating: " ", count: 300) + "x", 4),
      ("con." + String(repeating: "x", count: 300), 239),
      ("con." + String(repeating: "x", count: 230) + ".haulx", 239),
      // One character that is longer than any name.
      ("a" + String(repeating: "\u{301}", count: 300), 8),
    ])
  func long(_ raw: String, _ bytes: Int) {
    let name = FileName.sanitise(raw)
    #expect(name.utf8.count == bytes)
    check(name)
  }

  @Test(
    "a long name keeps what it ends in",
    arguments: [
      ("a", ".iso"), ("a", ".tar.gz"), ("\u{E9}", ".TAR.xz"), ("a", ".z01"), ("a.b", ".7z"), ("a ", ".zip"),
    ])
  func ending(_ piece: String, _ ending: String) {
    let name = FileName.sanitise(String(repeating: piece, count: 300) + ending)
    #expect(name.hasSuffix(ending) && name.utf8.count > 230, "\(name)")
    check(name)
  }

  @Test(
    "what is no ending is cut off like the rest",
    arguments: [".123456789", ".a-b", ".", ".1.2.3", ".\u{E9}t\u{E9}", ".exe.1234.5678"])
  func noEnding(_ ending: String) {
    let name = FileName.sanitise(String(repeating: "a", count: 300) + ending)
    #expect(!name.hasSuffix(ending))
    check(name)
  }

  @Test("one character longer than any name leaves no hidden file behind")
  func hugeCharacter() {
    let name = FileName.sanitise("a" + String(repeating: "\u{301}", count: 300) + ".iso")
    check(name)
    #expect(name == "download")
  }

  @Test("whatever comes in, an allowed name comes out", arguments: 0..<16 as Range<UInt64>)
  func anything(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let pieces = [
      "/", "\\", ".", "..", "-", " ", "\u{0}", "\u{1B}", "\u{7F}", "\u{85}", "\u{202E}", "\u{2069}",
      "\u{301}",
      "\u{200D}", "\u{1F600}", "con", "NUL", "com1", ".haul", "-part", ".haul-part", "a", "\u{E9}",
      "\u{FFFD}",
      "%2F", "\u{A0}", "\r\n", String(repeating: "b", count: 100), String(repeating: "\u{E9}", count: 57),
    ]
    for _ in 0..<400 {
      let count = Int.random(in: 0...12, using: &generator)
      let raw = (0..<count).map { _ in pieces.randomElement(using: &generator)! }.joined()
      let name = FileName.sanitise(raw)
      check(name)
      #expect(FileName.sanitise(name) == name, "an allowed name stays as it is")
      if let fromPath = FileName.fromURLPath(raw) { check(fromPath) }
    }
  }

  @Test(
    "the name in a URL's path",
    arguments: [
      ("/iso/debian.iso", "debian.iso"),
      ("debian.iso", "debian.iso"),
      ("/a%20b.iso", "a b.iso"),
      ("/a+b.iso", "a+b.iso"),
      ("/caf%C3%A9", "caf\u{E9}"),
      // Decoded once.
      ("/a%252Fb", "a%2Fb"),
      // The cut comes before the decoding, so the directory part never grows.
      ("/a%2Fb", "b"),
      ("/..%2F..%2Fetc%2Fpasswd", "passwd"),
      ("/..%5C..%5Cx", "x"),
      ("/%2e%2e", "download"),
      ("/%2Essh", "ssh"),
      ("/%2F", "download"),
      ("/%00", "download"),
      ("/a%zz", "a%zz"),
      ("/a%2", "a%2"),
      ("/a%FFb", "a\u{FFFD}b"),
      ("/..", "download"),
      ("/", nil), ("", nil), ("/dir/", nil),
    ] as [(String, String?)])
  func paths(_ path: String, _ expected: String?) {
    #expect(FileName.fromURLPath(path) == expected)
  }

  /// The grammar of allowed names, written without looking at how they are made.
  private func check(_ name: String, _ location: SourceLocation = #_sourceLocation) {
    let scalars = name.unicodeScalars.map(\.value)
    let bytes = Array(name.utf8)
    #expect(!bytes.isEmpty && bytes.count <= 239, sourceLocation: location)
    #expect(!bytes.contains(0x2F) && !bytes.contains(0x5C), "no separator", sourceLocation: location)
    #expect(![0x2E, 0x2D, 0x20].contains(bytes.first), "not hidden, no option", sourceLocation: location)
    #expect(![0x2E, 0x20].contains(bytes.last), "no dot or space at the end", sourceLocation: location)
    #expect(
      !scalars.contains { $0 < 0x20 || (0x7F...0x9F).contains($0) || (0x202A...0x202E).contains($0) },
      sourceLocation: location)
    #expect(
      !scalars.contains { (0x2066...0x2069).contains($0) || $0 == 0x200E || $0 == 0x200F },
      sourceLocation: location)
    let lowered = name.lowercased()
    #expect(!lowered.hasSuffix(".haul") && !lowered.hasSuffix(".haul-part"), sourceLocation: location)
    let stem = lowered.split(separator: ".", omittingEmptySubsequences: false).first ?? ""
    #expect(!["con", "prn", "aux", "nul", "com1", "lpt9"].contains(stem), sourceLocation: location)
  }
}
