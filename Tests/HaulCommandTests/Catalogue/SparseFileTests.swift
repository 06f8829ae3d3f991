// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The rest of case 27: offsets that do not fit into 31 or 32 bits.
@Suite(
  .serialized, .timeLimit(.minutes(10)), .enabled(if: NginxServer.isInstalled, "nginx is not installed"))
struct SparseFileTests {
  private static let length = 5 << 30 | 1

  private struct Unwritable: Error {}

  @Test("bytes on both sides of 2 GiB and of 4 GiB land where they belong")
  func fiveGibibytes() async throws {
    let (ended, names, compared) = try await Turns.take {
      let server = try NginxServer()
      let source = "\(server.root)/f"
      try Self.makeSparse(source)
      let folder = try TemporaryDirectory()
      let ended = try HaulProcess.run(
        [server.url("plain/f"), "-d", folder.path, "-c", "4", "--no-sync", "--no-digest"])
      // A program that is not ours compares: gigabytes are slow here without optimisation.
      let compared = try ChildProcess.run(
        ServerSite.find("cmp") ?? "cmp", [source, folder.path(of: "f")])
      return (ended, Files.names(in: folder.path), compared)
    }
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(names == ["f"])
    #expect(compared.end == .exit(0), "\(compared.output)\(compared.errors)")
  }

  /// Zeros, with marks at both ends and around the offsets that matter.
  private static func makeSparse(_ path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    defer { close(descriptor) }
    guard ftruncate(descriptor, off_t(length)) == 0 else { throw Unwritable() }
    for offset in [0, (1 << 31) - 8, 1 << 31, (1 << 32) - 8, 1 << 32, length - 8] {
      let mark = Array("\(offset)........".utf8.prefix(8))
      guard pwrite(descriptor, mark, mark.count, off_t(offset)) == mark.count else { throw Unwritable() }
    }
  }
}
