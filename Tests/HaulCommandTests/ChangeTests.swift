// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What the command does, and says, where a file or its URL is no longer what it was.
@Suite(.timeLimit(.minutes(5)))
struct ChangeTests {
  private static let length = 24 << 20

  private func version(_ seed: UInt64) -> OriginResource {
    var resource = OriginResource.reference(seed: seed, length: Self.length)
    resource.etag = "\"\(seed)\""
    return resource
  }

  /// An arena whose file was begun and interrupted.
  private func begun(_ resource: OriginResource) throws -> Arena {
    var configuration = OriginConfiguration()
    configuration.bytesPerSecondPerConnection = 4 << 20
    let arena = try Arena(["/f": resource], configuration: configuration)
    let child = try arena.start("/f", "-c", "2")
    // The manifest comes with the first commit, after a second: then whole chunks are in the file.
    let manifest = arena.folder.path(of: "f.haul")
    #expect(arena.origin.waitUntil(timeout: .seconds(60)) { _ in Files.exists(manifest) })
    child.signal(SIGINT)
    #expect(child.wait().end == .exit(130))
    #expect(arena.origin.waitUntilIdle())
    arena.origin.configure { $0.bytesPerSecondPerConnection = nil }
    return arena
  }

  @Test(
    "a changed file is fetched anew, and that is said; --no-restart makes it exit code 12",
    arguments: [true, false])
  func changed(restarts: Bool) throws {
    let arena = try begun(version(1))
    arena.origin.put(version(2), at: "/f")
    let ended = restarts ? try arena.run("/f") : try arena.run("/f", "--no-restart")
    #expect(ended.end == .exit(restarts ? 0 : 12), "\(ended.errors)")
    #expect(ended.errors.contains(restarts ? "has changed on the server" : "--no-restart"), "\(ended.errors)")
    #expect(arena.names == (restarts ? ["f"] : ["f.haul", "f.haul-part"]))
    if restarts { #expect(try arena.holds("f", ReferenceContent(seed: 2, length: Self.length))) }
  }

  @Test("another URL completes a partial only where the bytes are the same", arguments: [1, 2] as [UInt64])
  func otherURL(seed: UInt64) throws {
    let arena = try begun(version(1))
    var other = version(seed)
    other.etag = version(1).etag
    arena.origin.put(other, at: "/other")
    let ended = try arena.run("/other", "-o", "f")
    if seed == 1 {
      #expect(
        ended.end == .exit(0) && ended.output.contains("chunks compared"), "\(ended.output)\(ended.errors)")
      #expect(try arena.holds("f", ReferenceContent(seed: 1, length: Self.length)))
    } else {
      #expect(ended.end == .exit(16) && ended.errors.contains("its bytes differ"), "\(ended.errors)")
      #expect(arena.names == ["f.haul", "f.haul-part"])
    }
  }

  @Test("without a validator the earlier bytes count only where that is forced", arguments: [true, false])
  func forceResume(isForced: Bool) throws {
    var resource = version(1)
    (resource.etag, resource.lastModified) = (nil, nil)
    let arena = try begun(resource)
    let ended = isForced ? try arena.run("/f", "--force-resume") : try arena.run("/f")
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(ended.errors.contains(isForced ? "are there already" : "--force-resume"), "\(ended.errors)")
    #expect(try arena.holds("f", ReferenceContent(seed: 1, length: Self.length)))
  }
}
