// SPDX-License-Identifier: Apache-2.0

import HaulDigest
import HaulOrigin
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What a second run says of what an earlier one has left: what of it counts, and what becomes of its digest.
@Suite(.timeLimit(.minutes(10)))
struct EarlierRunTests {
  private static let length = 6_000_000
  private let resource = OriginResource.reference(seed: 1, length: length)
  private let other = OriginResource.reference(seed: 2, length: length)
  private static let wrong = String(repeating: "0", count: 64)

  private static func sha256(seed: UInt64) -> String {
    let bytes = ReferenceContent(seed: seed, length: length).bytes(in: 0..<length)
    return Digest.sha256(of: bytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// An arena in which a first run, with these options, was cut after half of the file.
  private func begun(_ options: String..., change: (inout OriginResource) -> Void = { _ in }) throws -> Arena
  {
    var resource = resource
    change(&resource)
    let arena = try Arena(["/f": resource])
    arena.origin.update("/f") {
      $0.faults = [Fault.closeAfter(3_000_000).on(.nth(1)), Fault.status(500).on(.sinceNth(2))]
    }
    let cut = try HaulProcess.run(arena.arguments("/f", ["-c", "1", "--retries", "0"] + options))
    #expect(cut.code == 10 && cut.errors.contains("kept 3.0 MB"), "\(cut.errors)")
    arena.origin.update("/f") { $0.faults = [] }
    return arena
  }

  /// What a second run says on standard error, line by line, without who speaks.
  private func lines(_ ended: ChildProcess.Ended) -> [String] {
    ended.errors.split(separator: "\n").map { String($0.dropFirst("haul: ".count)) }
  }

  @Test("a server that stopped sending parts: nothing is gone on from, and that is said with the reason")
  func noParts() throws {
    let arena = try begun()
    arena.origin.update("/f") { $0.supportsRanges = false }
    let ended = try arena.run("/f")
    #expect(ended.end == .exit(0) && !ended.errors.contains("going on"), "\(ended.errors)")
    #expect(
      lines(ended) == [
        "starting over, 3.0 MB of before are not used: the server cannot send a part of a file",
        "an interruption will start over: the server cannot send a part of a file",
      ])
    #expect(!ended.output.contains("from before"), "\(ended.output)")
    #expect(try arena.holds("f", ReferenceContent(seed: 1, length: Self.length)))
  }

  @Test("what an interruption leaves of a server without parts is not called kept, and the reason is given")
  func interrupted() throws {
    var whole = resource.gated(at: 1_000_000)
    whole.supportsRanges = false
    let arena = try Arena(["/f": whole])
    let process = try arena.start("/f")
    #expect(arena.waitUntilHeld(1))
    #expect(process.waitForOutput { $1.contains("an interruption will start over") })
    process.signal(SIGINT)
    let said = lines(process.wait())
    #expect(
      said.contains { $0.hasPrefix("left ") && $0.hasSuffix("; the same command starts over") }, "\(said)")
    #expect(said.last == "it cannot be gone on from: the server cannot send a part of a file", "\(said)")
    #expect(!said.contains { $0.contains("kept") })
  }

  @Test("without a digest now, the one of the earlier run still has to match, and that is said")
  func kept() throws {
    let digest = Self.sha256(seed: 1)
    let arena = try begun("--sha256", digest)
    let ended = try arena.run("/f")
    #expect(ended.end == .exit(0) && ended.output.hasSuffix("sha256 \(digest) verified\n"), "\(ended.errors)")
    #expect(lines(ended).last == "the sha256 that an earlier run was given still has to match: \(digest)")
  }

  @Test("the digest of an earlier run that does not match is an error that says where it came from")
  func keptWrong() throws {
    let arena = try begun("--sha256", Self.wrong)
    let ended = try arena.run("/f")
    #expect(ended.end == .exit(13) && !arena.names.contains("f"), "\(ended.errors)")
    for text in [Self.wrong, "was given to an earlier run", "--overwrite --checksum none"] {
      #expect(ended.errors.contains(text), "\(ended.errors)")
    }
    // As it says.
    let taken = try arena.run("/f", "--overwrite", "--checksum", "none")
    #expect(taken.end == .exit(0) && taken.output.hasSuffix(" computed\n"), "\(taken.errors)")
  }

  @Test("an earlier digest that nobody is to look at is named")
  func dropped() throws {
    let arena = try begun("--sha256", Self.wrong)
    let ended = try HaulProcess.run(arena.arguments("/f", ["--checksum", "none"]))
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(lines(ended).last == "not compared with the sha256 that an earlier run had: \(Self.wrong)")
    #expect(!ended.output.contains("verified"))
  }

  @Test("another digest takes the place of the earlier one, which is said; the same one needs no word")
  func replaced() throws {
    let digest = Self.sha256(seed: 1)
    for (earlier, says) in [(Self.wrong, true), (digest, false)] {
      let arena = try begun("--sha256", earlier)
      let ended = try arena.run("/f", "--sha256", digest)
      #expect(ended.end == .exit(0) && ended.output.hasSuffix(" verified\n"), "\(ended.errors)")
      let line = "begun for the sha256 \(earlier); from here on only the digest that is given now counts"
      #expect(
        lines(ended) == ["going on: 3.0 MB are there already"] + (says ? [line] : []), "\(ended.errors)")
    }
  }

  @Test("without a validator the earlier digest decides alone, and everything that came is used")
  func noValidator() throws {
    let digest = Self.sha256(seed: 1)
    let arena = try begun("--sha256", digest) { ($0.etag, $0.lastModified) = (nil, nil) }
    let ended = try arena.run("/f")
    #expect(ended.end == .exit(0) && ended.output.hasSuffix(" verified\n"), "\(ended.errors)")
    #expect(lines(ended).contains("going on: 3.0 MB are there already"), "\(ended.errors)")
  }

  @Test("without a validator a digest that was only declared, and is not believed now, is named")
  func noValidatorDeclared() throws {
    let digest = Self.sha256(seed: 1)
    let arena = try begun("--checksum", "auto") {
      ($0.etag, $0.lastModified) = (nil, nil)
      $0.extraHeaders.append(HeaderField("X-Linked-Etag", "\"\(digest)\""))
    }
    let ended = try arena.run("/f")
    #expect(ended.end == .exit(0) && ended.output.hasSuffix(" computed\n"), "\(ended.errors)")
    #expect(
      ended.errors.contains("\(digest), counts only if it is given again")
        && ended.errors.contains("--force-resume"), "\(ended.errors)")
  }

  @Test("another URL that has the same bytes is held to the earlier digest too")
  func otherURL() throws {
    let arena = try begun("--sha256", Self.wrong)
    arena.origin.put(resource, at: "/g")
    let ended = try arena.run("/g", "-o", "f")
    #expect(ended.end == .exit(13) && ended.errors.contains(Self.wrong), "\(ended.errors)")
    #expect(ended.errors.contains("what is there came from \(arena.origin.url("/f"))"))
  }

  @Test("16: a part of another download is named, with the URL that it belongs to")
  func occupied() throws {
    let arena = try begun("--sha256", Self.sha256(seed: 1))
    arena.origin.put(other, at: "/g")
    for options in [["--sha256", Self.sha256(seed: 2)], []] {
      let ended = try HaulProcess.run(arena.arguments("/g", ["-o", "f"] + options))
      let part = arena.folder.path(of: "f.haul-part")
      #expect(ended.end == .exit(16), "\(ended.errors)")
      #expect(
        lines(ended).first?.hasPrefix("\(part) belongs to another download, of \(arena.origin.url("/f")): ")
          == true, "\(ended.errors)")
      #expect(ended.errors.contains("nothing was touched") && ended.errors.contains("--overwrite"))
    }
  }

  @Test(
    "a file that has changed, and the digest of the version before: one more download, and the change is named",
    arguments: [true, false])
  func changed(isGivenAgain: Bool) throws {
    let (old, new) = (Self.sha256(seed: 1), Self.sha256(seed: 2))
    let arena = try begun("--sha256", old)
    arena.origin.put(other, at: "/f")
    let before = arena.origin.journal().bodyBytesSent()
    let ended = try HaulProcess.run(arena.arguments("/f", isGivenAgain ? ["--sha256", old] : []))
    #expect(ended.end == .exit(13) && !arena.names.contains("f"), "\(ended.errors)")
    // Besides the file there are the beginnings that were asked for to be sure of the change.
    let fetched = arena.origin.journal().bodyBytesSent() - before
    #expect(fetched < Self.length * 3 / 2 + (4 << 20), "\(fetched)")
    for text in [old, new, "the file has changed on the server", "no longer the one", "the present version"] {
      #expect(ended.errors.contains(text), "\(ended.errors)")
    }
    #expect(!ended.errors.contains("twice"))
    // As it says: nothing is fetched again for the right digest.
    let requests = arena.origin.requests().count
    let right = try arena.run("/f", "--sha256", new)
    #expect(right.end == .exit(0) && right.output.hasSuffix(" verified\n"), "\(right.errors)")
    #expect(arena.origin.requests().count == requests)
  }

  @Test("a part without its account is thrown away, and that is said in words")
  func noAccount() throws {
    let arena = try Arena(["/f": resource])
    try Files.write(String(repeating: "x", count: 2_000_000), to: arena.folder.path(of: "f.haul-part"))
    let ended = try arena.run("/f")
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(
      lines(ended) == [
        "fetching everything again: 2.0 MB of before have no account beside them (f.haul), "
          + "so that nobody can tell what they are"
      ])
  }
}
