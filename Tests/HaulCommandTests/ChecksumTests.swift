// SPDX-License-Identifier: Apache-2.0

import Foundation
import HaulCore
import HaulDigest
import HaulOrigin
import TestSupport
import Testing

/// Digests from elsewhere as the command takes them, and the words that it ends with.
@Suite(.timeLimit(.minutes(10)))
struct ChecksumTests {
  private static let length = 3_000_000
  private let resource = OriginResource.reference(seed: 1, length: length)
  private static let content = ReferenceContent(seed: 1, length: length).bytes(in: 0..<length)
  private static let wrong = String(repeating: "0", count: 64)

  private static func bytes(_ name: String) throws -> [UInt8] {
    let digest: Digest =
      switch name {
      case "sha256": try Digest(.sha256)
      case "sha512": try Digest(.sha512)
      case "sha1": try Digest(.sha1)
      default: try Digest(.md5)
      }
    content.withUnsafeBytes { digest.update($0) }
    return digest.finish()
  }

  private static func hex(_ name: String) throws -> String {
    try bytes(name).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  @Test(
    "--checksum takes each algorithm, and the summary says what a match is worth",
    arguments: [
      ("sha-256", "sha256", "verified"), ("SHA512", "sha512", "verified"), ("sha1", "sha1", "matches (weak)"),
      ("md5", "md5", "matches (weak)"),
    ])
  func given(written: String, name: String, words: String) throws {
    let arena = try Arena(["/f": resource])
    let digest = try Self.hex(name)
    let ended = try arena.run("/f", "--checksum", "\(written):\(digest.uppercased())")
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(ended.output.hasSuffix("\n\(name) \(digest) \(words)\n"), "\(ended.output)")
    #expect(ended.errors.contains("weak:") == words.contains("weak"))
    let again = try arena.run("/f", "--checksum", "\(written):\(digest)", "--no-digest")
    #expect(again.end == .exit(64), "they contradict each other")
    #expect(
      try arena.run("/f", "--checksum", "\(written):\(digest)").output.contains(
        "already complete, \(words) ("))
  }

  @Test(
    "what the server declares matches the server's digest",
    arguments: [
      ("Repr-Digest", "sha-256=:%:", "sha256"), ("Digest", "SHA-512=%", "sha512"),
      ("X-Linked-Etag", "\"#\"", "sha256"), ("x-amz-checksum-sha256", "%", "sha256"),
      ("x-goog-hash", "crc32c=AAAAAA==,md5=%", "md5"), ("Content-Digest", "sha-512=:%:", "sha512"),
      ("Repr-Digest", "sha-512=:%:", "sha512"), ("Repr-Digest", "md5=:%:", "md5"),
      ("Repr-Digest", "sha=:%:", "sha1"),
    ])
  func declared(field: String, form: String, name: String) throws {
    let arena = try Arena(["/f": resource])
    func set(_ bytes: [UInt8], _ hex: String) {
      let value = form.replacing("%", with: Data(bytes).base64EncodedString()).replacing("#", with: hex)
      arena.origin.update("/f") { $0.faults = [Fault.header(field, value).on(.every)] }
    }
    let bytes = try Self.bytes(name)
    let digest = try Self.hex(name)
    set(bytes, digest)
    let ended = try arena.run("/f", "--checksum", "auto")
    let words =
      name == "md5" || name == "sha1"
      ? "matches (weak, the server's \(field))" : "matches the server's digest (\(field))"
    #expect(ended.output.hasSuffix("\n\(name) \(digest) \(words)\n"), "\(ended.output) \(ended.errors)")
    #expect(!ended.errors.contains("verified") && !ended.output.contains("verified"))

    set(bytes.map { $0 ^ 1 }, Self.wrong)
    let folder = arena.folder.path(of: "g")
    let failed = try arena.run("/f", "--checksum", "auto", "-o", "g")
    #expect(failed.end == .exit(13) && failed.stdout.isEmpty)
    for text in [field, "--checksum none", arena.origin.url("/f"), digest] {
      #expect(failed.errors.contains(text), "\(failed.errors)")
    }
    #expect(Files.size(of: folder) == nil && arena.names.contains("g.haul-part"))
    // As the error says.
    let taken = try arena.run("/f", "--checksum", "none", "--overwrite", "-o", "g")
    #expect(taken.end == .exit(0) && taken.output.hasSuffix(" computed\n"), "\(taken.errors)")
    // Over http nobody looks at it by default, unless it speaks of nothing but the answer itself.
    let open = try arena.run("/f", "-o", "h")
    #expect(field == "Content-Digest" ? open.end == .exit(13) : open.output.hasSuffix(" computed\n"))
  }

  @Test("an answer that does not have its Content-Digest is fetched again; the third one is an error")
  func contentDigest() throws {
    let whole = ReferenceContent(seed: 1, length: 12_000_000)
    let field = Fault.headerOfBody("Content-Digest") { range in
      "sha-256=:\(Data(Digest.sha256(of: whole.bytes(in: range))).base64EncodedString()):"
    }
    let place = 6_000_000
    let arena = try Arena()
    for times in [1, 3] {
      let wrong = Fault.wrongBytes(place..<place + 9).on(.rangeContains(place), times: times)
      arena.origin.put(
        .reference(seed: 1, length: whole.length, faults: [wrong, field.on(.every)]), at: "/\(times)")
    }
    let healed = try arena.run("/1", "--checksum", "auto")
    #expect(healed.end == .exit(0) && healed.errors.contains("its own Content-Digest"), "\(healed.errors)")
    #expect(try arena.holds("1", whole))
    let failed = try arena.run("/3", "--checksum", "auto")
    #expect(failed.end == .exit(17) && failed.errors.contains("--checksum none"), "\(failed.errors)")
    #expect(arena.names == ["1", "3.haul", "3.haul-part"])
    #expect(try arena.run("/3").end == .exit(0) && arena.holds("3", whole), "nothing wrong was kept")
  }

  @Test("a mistyped digest is corrected without a third fetch")
  func corrected() throws {
    let arena = try Arena(["/f": resource])
    #expect(try arena.run("/f", "--sha256", Self.wrong).end == .exit(13))
    let before = arena.origin.requests().count
    let ended = try arena.run("/f", "--checksum", "sha-256:\(try Self.hex("sha256"))")
    #expect(ended.end == .exit(0) && ended.output.hasSuffix(" verified\n"), "\(ended.errors)")
    #expect(arena.origin.requests().count == before && arena.names == ["f"])
  }

  @Test(
    "64: what contradicts itself or is no digest",
    arguments: [
      (["--checksum", "sha-256:abc"], "64 hexadecimal"), (["--checksum", "crc32c:AAAA"], "not computed"),
      (["--checksum", "nonsense"], "sha-256:HEX"), (["--sha256", wrong, "--checksum", "auto"], "contradict"),
      (["--sha256", wrong, "--checksum-file", "x"], "contradict"),
      (["--checksum", "none", "--checksum-file", "x"], "contradict"),
      (["--checksum", "auto", "--no-digest"], "contradict"),
      (["--checksum-file", "x", "--no-digest"], "contradict"),
      (["http://127.0.0.1:1/g", "--checksum", "sha-256:\(wrong)"], "belong to one URL"),
      (["--checksum-file", "/nowhere/at/all"], "cannot be read"),
      (["--checksum-file", "/dev/null"], "no line of it"),
      (["--checksum-file", "/dev/zero"], "longer than 4 MiB"),
    ])
  func usage(arguments: [String], says: String) throws {
    let arena = try Arena(["/f": resource])
    let ended = try HaulProcess.run([arena.origin.url("/f"), "-d", arena.folder.path] + arguments)
    #expect(ended.end == .exit(64) && ended.errors.contains(says), "\(ended.errors)")
    #expect(arena.origin.requests().isEmpty && arena.names.isEmpty)
  }

  // MARK: --checksum-file

  @Test("a list in a file, of several forms, for several URLs; each finds its line")
  func listFile() throws {
    let arena = try Arena(["/a/f.iso": resource, "/g": resource])
    let list = """
      # checksums
      \(Self.wrong)  other.iso
      \(try Self.hex("sha512")) *./f.iso
      SHA256 (g) = \(try Self.hex("sha256"))
      """
    let path = arena.folder.path(of: "SUMS")
    try Files.write(list, to: path)
    let ended = try HaulProcess.run(
      [
        arena.origin.url("/a/f.iso"), arena.origin.url("/g"), "-d", arena.folder.path, "--checksum-file",
        path,
      ])
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(ended.output.contains("sha512 \(try Self.hex("sha512")) verified"))
    #expect(ended.output.hasSuffix("sha256 \(try Self.hex("sha256")) verified\n"))

    let absent = try arena.run("/a/f.iso?x=1", "-o", "unknown", "--checksum-file", path)
    #expect(absent.end == .exit(0), "the URL's own name counts first: \(absent.errors)")
    arena.origin.put(resource, at: "/nowhere")
    let missing = try arena.run("/nowhere", "--checksum-file", path)
    #expect(missing.end == .exit(64) && missing.errors.contains("no line for nowhere, only for other.iso"))
    #expect(try arena.run("/nowhere", "-o", "f.iso", "--overwrite", "--checksum-file", path).end == .exit(0))
    #expect(try arena.run("/nowhere", "-o", "other.iso", "--checksum-file", path).end == .exit(13))
  }

  @Test("a list at a URL, over redirects; headers go along only to the same origin")
  func listURL() throws {
    let arena = try Arena(["/f": resource, "/SUMS": .redirect(to: "/real")])
    arena.origin.put(OriginResource(.bytes(Array("\(try Self.hex("sha256"))  f\n".utf8))), at: "/real")
    let ended = try arena.run("/f", "--checksum-file", arena.origin.url("/SUMS"), "-H", "X-Key: secret")
    #expect(ended.end == .exit(0) && ended.output.hasSuffix(" verified\n"), "\(ended.errors)")
    #expect(arena.names == ["f"])

    let foreign = try Arena(["/SUMS": resource])
    foreign.origin.put(OriginResource(.bytes(Array("\(try Self.hex("sha256"))  f\n".utf8))), at: "/SUMS")
    let other = try arena.run("/f", "--checksum-file", foreign.origin.url("/SUMS"), "-H", "X-Key: secret")
    #expect(other.end == .exit(0) && other.output.contains("already complete, verified"), "\(other.errors)")
    #expect(arena.origin.requests().allSatisfy { $0.value(of: "X-Key") == "secret" })
    #expect(foreign.origin.requests().allSatisfy { $0.value(of: "X-Key") == nil })
  }

  @Test("a list that is no list, too long or not there is an error before the file is asked for")
  func badListURL() throws {
    let arena = try Arena(["/f": resource, "/html": OriginResource(.bytes(Array("<html>\u{1b}[2J".utf8)))])
    arena.origin.put(.reference(seed: 3, length: 5 << 20), at: "/long")
    var endless = OriginResource.reference(seed: 3, length: 1 << 40)
    (endless.supportsRanges, endless.framing) = (false, .chunked)
    arena.origin.put(endless, at: "/endless")
    for (path, code, says) in [
      ("/html", 64, "no line of it"), ("/long", 64, "longer than 4 MiB"),
      ("/endless", 64, "longer than 4 MiB"),
      ("/none", 11, "404"),
    ] as [(String, Int32, String)] {
      let ended = try arena.run("/f", "--checksum-file", arena.origin.url(path) + "?token=secret")
      #expect(ended.end == .exit(code) && ended.errors.contains(says), "\(path): \(ended.errors)")
      #expect(ended.errors.hasPrefix("haul: the checksum file"), "\(ended.errors)")
      #expect(ended.stderr.isHarmlessText && !ended.errors.contains("secret"))
    }
    #expect(arena.names.isEmpty)
    #expect(arena.origin.requests().allSatisfy { !$0.target.hasPrefix("/f") })
  }
}

extension RequestRecord {
  fileprivate func value(of name: String) -> String? {
    fields.first { $0.name.lowercased() == name.lowercased() }?.value
  }
}
