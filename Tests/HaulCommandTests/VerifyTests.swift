// SPDX-License-Identifier: Apache-2.0

import HaulCore
import HaulDigest
import HaulOrigin
import TestSupport
import Testing

@testable import HaulCommand

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// `haul verify`: a finished file against its digest.
@Suite(.timeLimit(.minutes(10)))
struct VerifyTests {
  private static let length = 5_000_000
  private static let content = ReferenceContent(seed: 21, length: length)
  private let folder: TemporaryDirectory
  private let digests: DigestSet
  private var path: String { folder.path(of: "f.iso") }

  init() throws {
    folder = try TemporaryDirectory()
    try Files.write(folder.path(of: "f.iso"), length: Self.length) { Self.content.fill($0, at: $1) }
    digests = try FileDigest.compute(Set(DigestAlgorithm.allCases), ofFileAt: folder.path(of: "f.iso"))
      .digests
  }

  private func hex(_ algorithm: DigestAlgorithm) -> String { HexDigest(bytes: digests[algorithm] ?? []).hex }
  private func run(_ more: String...) throws -> ChildProcess.Ended {
    try HaulProcess.run(["verify", path] + more)
  }

  @Test("without a digest the SHA-256 is computed and called so")
  func computed() throws {
    let ended = try run()
    #expect(ended.end == .exit(0) && ended.errors.isEmpty)
    #expect(ended.output == "\(path): 5.0 MB\nsha256 \(hex(.sha256)) computed\n")
  }

  @Test("a strong digest verifies, a weak one matches (weak)", arguments: DigestAlgorithm.allCases)
  func matching(algorithm: DigestAlgorithm) throws {
    let ended = try run("--checksum", "\(algorithm):\(hex(algorithm).uppercased())")
    let word = algorithm.isWeak ? "matches (weak)" : "verified"
    #expect(ended.end == .exit(0) && ended.output.hasSuffix("\n\(algorithm) \(hex(algorithm)) \(word)\n"))
  }

  @Test("another digest is a mismatch that shows both", arguments: DigestAlgorithm.allCases)
  func differing(algorithm: DigestAlgorithm) throws {
    let other = String(hex(algorithm).reversed())
    let ended = try run("--checksum", "\(algorithm):\(other)")
    #expect(ended.end == .exit(13) && !ended.output.contains(hex(algorithm)))
    #expect(ended.errors.contains(hex(algorithm)) && ended.errors.contains(other))
  }

  @Test("of several digests each has to match, in one pass")
  func several() throws {
    let good = try run(
      "--sha256", hex(.sha256), "--checksum", "md5:\(hex(.md5))", "--checksum", "sha-512:\(hex(.sha512))")
    #expect(good.end == .exit(0) && good.output.split(separator: "\n").count == 4)
    let bad = try run("--sha256", hex(.sha256), "--checksum", "md5:" + String(hex(.md5).reversed()))
    #expect(bad.end == .exit(13) && bad.output.contains("verified") && bad.errors.contains("MD5"))
  }

  @Test("of a list the file's own line counts, from a file and from a URL")
  func list() throws {
    let list = "\(String(repeating: "0", count: 64))  other.iso\n\(hex(.sha256)) *f.iso\n"
    try Files.write(list, to: folder.path(of: "SUMS"))
    #expect(try run("--checksum-file", folder.path(of: "SUMS")).output.hasSuffix(" verified\n"))
    try Files.write(list.replacing("f.iso", with: "g.iso"), to: folder.path(of: "SUMS"))
    let missing = try run("--checksum-file", folder.path(of: "SUMS"))
    #expect(missing.end == .exit(64) && missing.errors.contains("no line for f.iso"), "\(missing.errors)")
    let content = Array(list.utf8)
    let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: \(content.count)\r\n\r\n".utf8) + content
    let arena = try Arena([
      "/SUMS": .reference(seed: 1, length: 1, faults: [Fault.rawResponse(answer).on(.every)])
    ])
    #expect(try run("--checksum-file", arena.origin.url("/SUMS")).output.hasSuffix(" verified\n"))
  }

  @Test(
    "what cannot be read is an error of the disk that says why", arguments: ["no", "folder", "fifo", "part"])
  func unreadable(what: String) throws {
    let path = folder.path(of: what)
    switch what {
    case "folder": mkdir(path, 0o700)
    case "fifo": mkfifo(path, 0o600)
    case "part": try Files.write("x", to: path + ".haul-part")
    default: break
    }
    let ended = try HaulProcess.run(["verify", path])
    #expect(ended.end == .exit(14) && ended.stdout.isEmpty)
    #expect(ended.errors.contains(what == "part" ? "not finished yet" : "cannot be read"), "\(ended.errors)")
  }

  @Test(
    "what is no digest is wrong usage",
    arguments: [
      ["--sha256", "abc"], ["--checksum", "crc32:00"], ["--checksum", "auto"], ["--checksum", "x\u{1b}[2J"],
    ])
  func usage(arguments: [String]) throws {
    let ended = try HaulProcess.run(["verify", path] + arguments)
    #expect(ended.end == .exit(64) && ended.stderr.isHarmlessText && ended.errors.hasPrefix("haul: "))
  }

  @Test("-q says nothing but errors; a hostile name is escaped")
  func quiet() throws {
    #expect(try run("-q").stdout.isEmpty)
    let name = folder.path(of: "\u{1b}]0;x\u{7}")
    try Files.write("x", to: name)
    #expect(try HaulProcess.run(["verify", name]).stdout.isHarmlessText)
    let bad = try HaulProcess.run(["verify", name, "--sha256", hex(.sha256)])
    #expect(bad.end == .exit(13) && bad.stderr.isHarmlessText)
  }

  @Test("the live line fits", arguments: [12, 40, 60, 120])
  func line(columns: Int) {
    for done in [0, 400_000_000, 1_234_567_890_123] {
      let line = VerifyReport.progress(
        path: "/x/a-rather-long-name-of-a-file.iso", done: done, of: 1_234_567_890_123, rate: 2e9,
        columns: columns)
      #expect(line.count < columns, "\(line)")
    }
  }
}
