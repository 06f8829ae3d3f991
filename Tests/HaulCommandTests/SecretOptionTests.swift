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

  @Test(
    "64: a file of secrets that others may read is refused, whichever option names it, with the command to mend it",
    arguments: ["-H", "--user", "--netrc"], [0o644, 0o640, 0o604])
  func open(option: String, mode: mode_t) throws {
    let arena = try Arena(["/f": resource])
    let home = try TemporaryDirectory()
    let path = home.path(of: ".netrc")
    let texts = [
      "-H": "X: hunter2\n", "--user": "me:hunter2\n",
      "--netrc": "machine 127.0.0.1 login me password hunter2",
    ]
    try Files.write(try #require(texts[option]), to: path)
    #expect(chmod(path, mode) == 0)
    let arguments = option == "--netrc" ? [option] : [option, "@" + path]
    let ended = try run(arena, arguments, ["HOME": home.path])
    #expect(
      ended.end == .exit(64) && ended.errors.contains("other users may read \(path)")
        && ended.errors.contains("chmod 600 \(path)"), "\(ended.errors)")
    #expect(!ended.errors.contains("hunter2") && arena.origin.requests().isEmpty)
    #expect(chmod(path, 0o600) == 0)
    #expect(try run(arena, arguments, ["HOME": home.path]).end == .exit(0))
  }

  @Test("standard input is the shell's to guard: a file that others may read comes that way, without a word")
  func input() throws {
    let arena = try Arena(["/f": resource])
    let path = try write("X-A: 1\n", mode: 0o644, in: arena, "headers")
    defer { unlink(path) }
    let ended = try ChildProcess.run(
      "/bin/sh",
      [
        "-c",
        "exec '\(HaulProcess.path)' '\(arena.origin.url("/f"))' -d '\(arena.folder.path)' -H @- <'\(path)'",
      ])
    #expect(ended.end == .exit(0) && ended.errors.isEmpty, "\(ended.errors)")
    #expect(arena.origin.requests().first?.fields["X-A"] == "1")
  }

  @Test("64: an empty HAUL_PASSWORD is no password, unless a file says so")
  func emptyPassword() throws {
    let arena = try Arena(["/f": resource])
    let refused = try run(arena, ["--user", "me"], ["HAUL_PASSWORD": ""])
    #expect(
      refused.end == .exit(64) && refused.errors.contains("HAUL_PASSWORD is empty"), "\(refused.errors)")
    #expect(arena.origin.requests().isEmpty)
    let path = try write("me:\n", in: arena, "user")
    defer { unlink(path) }
    #expect(try run(arena, ["--user", "@" + path]).end == .exit(0))
    #expect(arena.origin.requests().first?.fields["Authorization"] == "Basic bWU6")
  }

  @Test("--netrc without an entry for the host says so, once for each URL, and asks without a login")
  func noEntry() throws {
    let arena = try Arena(["/f": resource])
    let home = try TemporaryDirectory()
    let path = home.path(of: ".netrc")
    try Files.write("machine example.org login a password hunter2\n", to: path)
    #expect(chmod(path, 0o600) == 0)
    let ended = try run(arena, ["--netrc"], ["HOME": home.path])
    #expect(
      ended.end == .exit(0)
        && ended.errors
          == "haul: warning: \(path) has no entry for 127.0.0.1, which is asked without a login\n",
      "\(ended.errors)")
    #expect(arena.origin.requests().allSatisfy { $0.fields["Authorization"] == nil })
    #expect(try run(arena, ["--netrc", "-q", "--overwrite"], ["HOME": home.path]).stderr.isEmpty)
    // The URL has a login of its own.
    let url = arena.origin.url("/f").replacing("http://", with: "http://me:x@")
    let own = try HaulProcess.run(
      [url, "-d", arena.folder.path, "--netrc", "--overwrite"],
      environment: HaulProcess.environment.merging(["HOME": home.path]) { $1 })
    #expect(own.end == .exit(0) && own.errors.isEmpty, "\(own.errors)")
  }

  @Test(
    "64: a header that cannot be sent is named by its place, and what to do instead",
    arguments: [
      ("X: 1\n\nhunter2\n", "line 3 of ", "it has no colon"), ("Range: hunter2", "line 1 of ", "pieces"),
      ("X: 1\r\nHost: hunter2", "line 2 of ", "URL"), ("# hunter2: x", "line 1 of ", "before its colon"),
    ])
  func place(text: String, place: String, says: String) throws {
    let arena = try Arena(["/f": resource])
    let path = try write(text, in: arena, "headers")
    defer { unlink(path) }
    let ended = try run(arena, ["-H", "X: 1", "-H", "@" + path])
    #expect(
      ended.end == .exit(64) && ended.errors.contains(place + path) && ended.errors.contains(says),
      "\(ended.errors)")
    let direct = try run(arena, ["-H", "X: 1", "-H", "If-Match: hunter2"])
    #expect(direct.errors.contains("-H number 2 cannot be sent: If-Match is Haul's own"), "\(direct.errors)")
    #expect(!(ended.errors + direct.errors).contains("hunter2") && arena.origin.requests().isEmpty)
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
