// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

@Suite("HeaderBlock")
struct HeaderBlockTests {
  @Test(
    "a raw line is a field",
    arguments: [
      ("ETag: \"x\"\r\n", "ETag", "\"x\""),
      ("ETag:\"x\"\n", "ETag", "\"x\""),
      ("X:", "X", ""),
      ("X: \t \r\n", "X", ""),
      ("X:  a  b\t\r\n", "X", "a  b"),
      ("Location: http://a/b:c\r\n", "Location", "http://a/b:c"),
      ("x!#$%&'*+-.^_`|~9: v", "x!#$%&'*+-.^_`|~9", "v"),
      ("N: caf\u{E9} \u{1F600}\r\n", "N", "caf\u{E9} \u{1F600}"),
      ("Evil: a\r\nSet-Cookie: b\u{0}c\r\n", "Evil", "a  Set-Cookie: b c"),
    ])
  func lines(_ line: String, _ name: String, _ value: String) {
    var block = HeaderBlock()
    let isField = block.appendLine(line.utf8)
    #expect(isField)
    #expect(block.fields == [HeaderField(name: name, value: value)])
  }

  @Test(
    "anything else is none",
    arguments: [
      "", "\r\n", "\n", "no colon\r\n", ": v", " folded: x", "\tfolded", "a b: c", "HTTP/1.1 200 a:b",
      "X : v", "caf\u{E9}: v", "a\u{0}: v",
    ])
  func junk(_ line: String) {
    var block = HeaderBlock()
    let isField = block.appendLine(line.utf8)
    #expect(!isField)
    #expect(block.fields.isEmpty)
  }

  @Test("invalid UTF-8 is read as Latin-1")
  func latin1() {
    var block = HeaderBlock()
    block.appendLine(Array("N: caf".utf8) + [0xE9, 0x0D, 0x0A])
    #expect(block["n"] == "caf\u{E9}")
  }

  @Test("a buffer of libcurl's is taken as it is")
  func buffer() {
    var block = HeaderBlock()
    let isField = Array("A: b\r\n".utf8).withUnsafeBytes { block.appendLine($0) }
    #expect(isField)
    #expect(block["a"] == "b")
  }

  @Test("names are compared without case; the first value wins, all are kept in order")
  func lookup() {
    var block = HeaderBlock()
    block.append(name: "Link", value: "1")
    block.append(name: "ETAG", value: "e")
    block.append(name: "link", value: "2")
    #expect(block["LINK"] == "1")
    #expect(block.all("lInK") == ["1", "2"])
    #expect(block["etag"] == "e")
    #expect(block["Lin"] == nil)
    #expect(block.all("Date").isEmpty)
  }

  @Test("a flood of fields is cut off and told")
  func manyFields() {
    var block = HeaderBlock()
    for index in 0..<HeaderBlock.mostFields { block.append(name: "X", value: "\(index)") }
    #expect(!block.isOverfull)
    let isField = block.appendLine("Y: 1\r\n".utf8)
    #expect(isField)
    #expect(block.isOverfull)
    #expect(block.fields.count == HeaderBlock.mostFields)
    #expect(block["Y"] == nil)
  }

  @Test("a flood of bytes is cut off and told")
  func manyBytes() {
    var block = HeaderBlock()
    block.append(name: "X", value: String(repeating: "a", count: HeaderBlock.mostBytes - 1))
    #expect(!block.isOverfull)
    block.append(name: "Y", value: "")
    #expect(block.isOverfull)
    #expect(block.fields.count == 1)
  }
}
