// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// `--header @FILE`, `--user`, `--netrc`: what is sent, and what is refused.
@Suite(.timeLimit(.minutes(10)))
struct SecretOptionTests {
  private let resource = OriginResource.reference(seed: 1, length: 1000)

  private func write(_ text: String, mode: mode_t = 0o600, in arena: Arena, _ name: String) throws -> String {
    // Beside the folder of the downloads, which tests look into.
    let path = arena.folder.path + "." + name
    try Files.write(text, to: path)
    #expect(chmod(path, mode) == 0)
    return path
  }

  private func run(_ arena: Arena, _ more: [String], _ variables: [String: String] = [:]) throws
    -> ChildProcess.Ended
  {
    try HaulProcess.run(
      [arena.origin.url("/f"), "-d", arena.folder.path] + more,
      environment: HaulProcess.environment.merging(variables) { $1 })
  }

  @Test("a file of headers: one a line, empty lines do not count")
  func headerFile() throws {
    let arena = try Arena(["/f": resource])
    let path = try write("X-A: 1\r\n\nX-B:  2 \n", in: arena, "headers")
    defer { unlink(path) }
    let ended = try run(arena, ["-H", "@" + path, "-H", "X-C: 3"])
    #expect(ended.end == .exit(0) && ended.errors.isEmpty, "\(ended.errors)")
    let fields = try #require(arena.origin.requests().first).fields
    #expect(fields["X-A"] == "1" && fields["X-B"] == "2" && fields["X-C"] == "3")
  }

  @Test("a file that others may read is used, and said to be open", arguments: [0o644, 0o640, 0o604])
  func open(mode: mode_t) throws {
    let arena = try Arena(["/f": resource])
    let path = try write("me:hunter2\n", mode: mode, in: arena, "user")
    defer { unlink(path) }
    let ended = try run(arena, ["--user", "@" + path])
    #expect(
      ended.end == .exit(0) && ended.errors.contains("\(path) is open to other users"), "\(ended.errors)")
    #expect(arena.origin.requests().first?.fields["Authorization"] == "Basic bWU6aHVudGVyMg==")
    unlink(arena.folder.path(of: "f"))
    #expect(try run(arena, ["--user", "@" + path, "-q"]).stderr.isEmpty)
  }

  @Test("the password of --user comes from HAUL_PASSWORD, and without --user that is not looked at")
  func variable() throws {
    let arena = try Arena(["/f": resource])
    #expect(try run(arena, ["--user", "me"], ["HAUL_PASSWORD": "hunter2"]).end == .exit(0))
    unlink(arena.folder.path(of: "f"))
    #expect(try run(arena, [], ["HAUL_PASSWORD": "hunter2"]).end == .exit(0))
    #expect(
      arena.origin.requests().map { $0.fields["Authorization"] } == ["Basic bWU6aHVudGVyMg==", nil])
  }

  @Test("--netrc reads ~/.netrc for the URL's host, of the user who is named")
  func netrc() throws {
    let arena = try Arena(["/f": resource])
    let home = try TemporaryDirectory()
    let path = home.path(of: ".netrc")
    try Files.write("machine 127.0.0.1 login a password 1\nmachine 127.0.0.1 login b password 2\n", to: path)
    #expect(chmod(path, 0o600) == 0)
    #expect(try run(arena, ["--netrc"], ["HOME": home.path]).end == .exit(0))
    unlink(arena.folder.path(of: "f"))
    #expect(try run(arena, ["--netrc", "--user", "b"], ["HOME": home.path]).end == .exit(0))
    unlink(arena.folder.path(of: "f"))
    #expect(try run(arena, [], ["HOME": home.path]).end == .exit(0))
    #expect(
      arena.origin.requests().map { $0.fields["Authorization"] } == ["Basic YTox", "Basic Yjoy", nil])
    unlink(arena.folder.path(of: "f"))
    let unknown = try run(arena, ["--netrc", "--user", "c"], ["HOME": home.path])
    #expect(unknown.end == .exit(64) && unknown.errors.contains("no entry"))
    #expect(chmod(path, 0o640) == 0)
    let open = try run(arena, ["--netrc"], ["HOME": home.path])
    #expect(open.end == .exit(64) && open.errors.contains("chmod 600 \(path)"))
    #expect(arena.origin.requests().count == 3)
  }

  @Test(
    "64: what cannot be used is refused before anything is asked, and not repeated",
    arguments: [
      (["--user", "me:hunter2"], "HAUL_PASSWORD"), (["--user", "me"], "HAUL_PASSWORD"),
      (["--user", ""], "name"),
      (["--user", "@/nowhere/x"], "/nowhere/x"), (["-H", "@/nowhere/x"], "No such file"),
      (["-H", "@/"], "Is a directory"),
      (["--netrc"], "/nonexistent/.netrc"), (["-H", "hunter2"], "Name: value"),
      (["-H", "hunter2 x: y"], "Name: value"), (["--cacert", "/nowhere/x"], "No such file"),
      (["--cacert", "/"], "/"),
    ] as [([String], String)])
  func refused(arguments: [String], says: String) throws {
    let arena = try Arena(["/f": resource])
    let ended = try run(arena, arguments)
    #expect(ended.end == .exit(64) && ended.errors.contains(says), "\(ended.errors)")
    #expect(!ended.errors.contains("hunter2") && ended.stdout.isEmpty && ended.stderr.isHarmlessText)
    #expect(arena.origin.requests().isEmpty && arena.names.isEmpty)
  }

  @Test(
    "64: a file that holds no credentials or no header is refused without its content",
    arguments: [("--user", "hunter2\n"), ("--user", ":hunter2"), ("-H", "hunter2\n"), ("-H", "# hunter2: x")])
  func noSense(option: String, text: String) throws {
    let arena = try Arena(["/f": resource])
    let path = try write(text, in: arena, "secret")
    defer { unlink(path) }
    let ended = try run(arena, [option, "@" + path])
    #expect(ended.end == .exit(64) && !ended.errors.contains("hunter2"), "\(ended.errors)")
    #expect(arena.origin.requests().isEmpty)
  }

  @Test("a checksum file at another origin gets neither headers nor login; at the same one it gets both")
  func checksumFile() throws {
    let arena = try Arena(["/f": resource])
    let other = try Arena()
    let digest = try #require(
      HaulProcess.run([arena.origin.url("/f"), "-o", arena.folder.path(of: "g")]).output.split(separator: " ")
        .dropLast().last)
    for place in [arena, other] {
      place.origin.put(OriginResource(.bytes(Array("\(digest)  f\n".utf8))), at: "/sums")
      let ended = try run(
        arena,
        ["--overwrite", "--user", "me", "-H", "X-Secret: s", "--checksum-file", place.origin.url("/sums")],
        ["HAUL_PASSWORD": "hunter2"])
      #expect(ended.end == .exit(0) && ended.output.contains("verified"), "\(ended.errors)")
    }
    let strange = try #require(other.origin.requests().first)
    #expect(strange.fields["Authorization"] == nil && strange.fields["X-Secret"] == nil)
    let own = try #require(arena.origin.requests().first { $0.target == "/sums" })
    #expect(own.fields["Authorization"] != nil && own.fields["X-Secret"] == "s")
  }

  @Test("a refused login says how to give one")
  func unauthorised() throws {
    let arena = try Arena(["/f": .reference(seed: 1, length: 9, faults: [Fault.status(401).on(.every)])])
    let ended = try run(arena, [])
    #expect(ended.end == .exit(11) && ended.errors.contains("--user"))
  }
}
