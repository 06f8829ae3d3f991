// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

/// Where the file ends up, and what of a server's text reaches the terminal.
@Suite(.timeLimit(.minutes(10)))
struct NameTests {
  private let resource = OriginResource.reference(seed: 1, length: 1000)

  @Test(
    "the name is the last component of the URL's path, decoded once, inside the folder",
    arguments: [
      ("/a/b/file.iso", "file.iso"), ("/with%20space.iso", "with space.iso"), ("/f.iso?token=abc/x", "f.iso"),
      ("/a/..%2F..%2Fetc%2Fpasswd", "passwd"), ("/x%2Fy.bin", "y.bin"), ("/%2e%2ehidden", "hidden"),
      ("/a%00b", "ab"), ("/a%1b%5b31mb", "a[31mb"), ("/%252F", "%2F"), ("/-rf", "rf"), ("/f.haul", "f.haul_"),
      ("/%E2%80%AEtxt.exe", "txt.exe"),
      ("/..%5C..%5Cx", "x"), ("/%2Fabs", "abs"), ("/C:%5Ctemp%5Cx", "x"), ("/%2e%2e%2f%2e%2e%2fx", "x"),
      ("/.ssh", "ssh"), ("/.bashrc", "bashrc"), ("/CON", "_CON"), ("/nul.tar", "_nul.tar"),
      ("/x.haul-part", "x.haul-part_"), ("/a%0Ab", "ab"), ("/a%C2%9Bb", "ab"), ("/a%FFb", "a\u{FFFD}b"),
      ("/...", "download"), ("/%20", "download"), ("/%2e%2e%2f", "download"),
      ("/\(String(repeating: "a", count: 4096))", String(repeating: "a", count: 239)),
      ("/\(String(repeating: "a", count: 4096)).tar.gz", String(repeating: "a", count: 232) + ".tar.gz"),
    ] as [(String, String)])
  func fromURL(path: String, name: String) throws {
    let arena = try Arena()
    arena.origin.put(resource, at: String(path.prefix { $0 != "?" }))
    let ended = try arena.run(path)
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(arena.names == [name])
    #expect(ended.stdout.isHarmlessText && ended.stderr.isHarmlessText)
  }

  @Test(
    "where the URL names nothing the server's suggestion counts, made safe",
    arguments: [
      ("attachment; filename=\"disk.iso\"", "disk.iso"),
      ("attachment; filename*=UTF-8''na%C3%AFve.iso; filename=x", "naïve.iso"),
      ("attachment; filename=\"../../etc/passwd\"", "passwd"),
      ("attachment; filename=\"a\u{1b}[31m\u{9b}b\"", "a[31mb"), ("attachment; filename=\"..\"", "download"),
      ("attachment; filename=\"..\\\\..\\\\x\"", "x"), ("attachment; filename=/abs", "abs"),
      ("attachment; filename=\"%2e%2e%2fx\"", "%2e%2e%2fx"),
      ("attachment; filename*=UTF-8''..%2F..%2Fx", "x"),
      ("attachment; filename=-rf", "rf"), ("attachment; filename=x.haul", "x.haul_"),
      ("attachment; filename*=UTF-8''a%00%0d%0ab", "ab"), ("attachment; filename*=UTF-8''%E2%80%AEx", "x"),
      ("attachment; filename=\"\(String(repeating: "n", count: 4000))\"", String(repeating: "n", count: 239)),
      ("attachment", "download"),
    ] as [(String, String)])
  func fromServer(field: String, name: String) throws {
    let arena = try Arena(["/": resource])
    arena.origin.update("/") { $0.contentDisposition = field }
    let ended = try arena.run("/")
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(arena.names == [name])
    #expect(ended.stdout.isHarmlessText && ended.stderr.isHarmlessText)
    #expect(ended.output.hasPrefix("\(arena.folder.path)/\(name): "))
  }

  @Test(
    "a name that had to be changed is said once, and one that did not is not",
    arguments: [
      ("/a/..%2F..%2Fpasswd", "named passwd here: '../../passwd'"), ("/CON", "named _CON here: 'CON'"),
      ("/a%1b%5b31mb", "named a[31mb here: 'a\\x1b[31mb'"), ("/with%20space.iso", nil), ("/f", nil),
      ("/\(String(repeating: "a", count: 300)).iso", "here: '\(String(repeating: "a", count: 100))…'"),
    ] as [(String, String?)])
  func renamed(path: String, says: String?) throws {
    let arena = try Arena([path: resource])
    let ended = try arena.run(path)
    #expect(ended.end == .exit(0) && ended.errors.contains(says ?? "") && ended.stderr.isHarmlessText)
    #expect(ended.errors.split(separator: "\n").count == (says == nil ? 0 : 1), "\(ended.errors)")
    let quiet = try arena.run(path, "-q", "--overwrite")
    #expect(quiet.end == .exit(0) && quiet.stderr.isEmpty)
    // Whoever names the file himself has nothing to be told.
    #expect(try arena.run(path, "-o", "own").errors.isEmpty)
  }

  @Test("a name of the server's that had to be changed is said too")
  func renamedByServer() throws {
    let arena = try Arena(["/": resource])
    arena.origin.update("/") { $0.contentDisposition = "attachment; filename=\"../../x\"" }
    #expect(try arena.run("/").errors == "haul: named x here: '../../x' is too long or not safe as a name\n")
  }

  @Test("a name in the URL wins over the server's suggestion")
  func urlWins() throws {
    let arena = try Arena(["/f": resource])
    arena.origin.update("/f") { $0.contentDisposition = "attachment; filename=other" }
    #expect(try arena.run("/f").end == .exit(0))
    #expect(arena.names == ["f"])
  }

  @Test("without -o and -d it goes to the current folder; -o names it")
  func currentFolder() throws {
    let arena = try Arena(["/f": resource])
    #expect(
      try HaulProcess.run([arena.origin.url("/f")], in: arena.folder.path).output.hasPrefix("f: 1.0 kB in "))
    #expect(
      try HaulProcess.run([arena.origin.url("/f"), "-o", "g"], in: arena.folder.path).output.hasPrefix("g: "))
    let path = arena.folder.path(of: "h")
    #expect(try HaulProcess.run([arena.origin.url("/f"), "-o", path]).output.hasPrefix("\(path): "))
    #expect(try HaulProcess.run([arena.origin.url("/f"), "-o\(path)2", "-c3"]).end == .exit(0))
    #expect(arena.names == ["f", "g", "h", "h2"])
  }

  @Test("what a server says never acts on the terminal", arguments: hostile)
  func hostileText(answer: [UInt8]) throws {
    let arena = try Arena(["/f": resource])
    arena.origin.update("/f") { $0.faults = [Fault.rawResponse(answer).on(.every)] }
    let ended = try arena.run("/f", "--retries", "0")
    #expect(ended.end == .exit(17) || ended.end == .exit(11), "\(ended.end)")
    #expect(!ended.stderr.isEmpty)
    #expect(ended.stdout.isHarmlessText && ended.stderr.isHarmlessText, "\(ended.errors.debugDescription)")
  }

  /// An escape sequence, C1 controls raw and in UTF-8, and bytes that are no UTF-8, in every place.
  private static let hostile: [[UInt8]] = {
    let poison = Array("\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}31m\u{202e}".utf8) + [0x9b, 0xff, 0x08]
    func response(_ before: String, _ after: String) -> [UInt8] {
      Array(before.utf8) + poison + Array("\(after)\r\n\r\n".utf8)
    }
    return [
      response("HTTP/1.1 404 ", "\r\nContent-Length: 0"),
      response("HTTP/1.1 302 Found\r\nLocation: http://", "/x"),
      response("HTTP/1.1 302 Found\r\nLocation: ", ""),
      response("HTTP/1.1 302 Found\r\nLocation: gopher://x/", ""),
      response("HTTP/1.1 206 Partial Content\r\nContent-Length: 5\r\nContent-Range: bytes ", ""),
      response("HTTP/1.1 206 Partial Content\r\nContent-Length: ", ""),
      response("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Encoding: ", ""),
      response("HTTP/1.1 200 OK\r\nTransfer-Encoding: ", ""), response("", ""), response("HTTP/", ""),
    ]
  }()
}
