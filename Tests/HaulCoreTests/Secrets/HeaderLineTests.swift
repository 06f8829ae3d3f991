// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

@Suite("HeaderLine and Credentials")
struct HeaderLineTests {
  @Test(
    "an ordinary line may be sent",
    arguments: ["A: b", "A:b", "X-Token: caf\u{E9}", "Cookie: a=b; c=\"d:e\"", "a:", "X-Y:\ttab"])
  func good(_ line: String) {
    #expect(HeaderLine.problem(with: line) == nil)
  }

  @Test(
    "a line that would be two, or none, or one of ours is refused without being repeated",
    arguments: [
      "hunter2", "", ": hunter2", "hunter2 x: y", "hunter(2): y", "hunter2\u{301}: y",
      "A: hunter2\r\nB: c", "A: hunter2\n", "A: hunter2\rB", "A: hunter2\u{0}", "A: hunter2\u{7F}",
      "A: hunter2\u{9B}",
      "Range: hunter2", "If-Match: hunter2", "IF-RANGE: hunter2", "accept-encoding: hunter2",
      "Host: hunter2",
      "Content-Length: hunter2", "Transfer-Encoding: hunter2", "Connection: hunter2", "Upgrade: hunter2",
      "A: " + String(repeating: "hunter2", count: 3000),
    ])
  func bad(_ line: String) throws {
    let problem = try #require(HeaderLine.problem(with: line))
    #expect(!problem.reason.contains("hunter2") && !problem.advice.contains("hunter2"))
  }

  @Test(
    "a file has a line a line",
    arguments: [
      ("A: b\nC: d\n", ["A: b", "C: d"]), ("A: b\r\n\r\nC: d", ["A: b", "C: d"]), ("", []), ("\n\n", []),
      ("# A: b", ["# A: b"]), (" A: b ", [" A: b "]),
    ])
  func files(_ text: String, _ lines: [String]) {
    #expect(HeaderLine.lines(ofFile: text) == lines)
  }

  @Test("a field of Haul's own is refused with advice of its own")
  func own() throws {
    for (line, word) in [
      ("range: x", "pieces"), ("If-Match: x", "version"), ("Accept-Encoding: x", "stored"),
      ("Host: x", "URL"),
      ("TE: x", "connection"),
    ] {
      let problem = try #require(HeaderLine.problem(with: line))
      #expect(problem.reason.contains("Haul's own") && problem.advice.contains(word), "\(problem)")
    }
    #expect(HeaderLine.problem(with: "x y: z")?.advice.contains("Name: value") == true)
  }

  @Test("lines of a file have the numbers that an editor shows")
  func numbers() {
    let lines = HeaderLine.numberedLines(ofFile: "\nA: b\r\n\n\nC: d")
    #expect(lines.map(\.number) == [2, 5] && lines.map(\.text) == ["A: b", "C: d"])
  }

  @Test(
    "name and password part at the first colon",
    arguments: [
      ("a:b", "a", "b"), ("a:b:c", "a", "b:c"), ("a:", "a", ""), ("a:\u{301}b", "a", "\u{301}b"),
      (":b", nil, nil), ("ab", nil, nil), ("", nil, nil),
    ] as [(String, String?, String?)])
  func pairs(_ text: String, _ user: String?, _ password: String?) {
    let found = Credentials(pair: text)
    #expect(found?.user == user)
    #expect((found.map { Array($0.password.utf8) } ?? []) == Array((password ?? "").utf8))
  }

  @Test("credentials that would break the field are refused")
  func credentials() {
    #expect(Credentials(user: "a", password: "b: c").problem == nil)
    #expect(Credentials(user: "a:b", password: "c").problem != nil)
    #expect(Credentials(user: "a", password: "c\n").problem != nil)
    #expect(Credentials(user: "a\u{0}", password: "c").problem != nil)
  }
}
