// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A secret goes in, in every way there is, and everything that a run produces is searched for it.
@Suite(.timeLimit(.minutes(10)))
struct CanaryTests {
  private static let canary = "hunter2canary"
  /// "me:hunter2canary" and "hunter2canary" as Basic authentication would show them.
  private static let disguises = ["bWU6aHVudGVyMmNhbmFyeQ", "aHVudGVyMmNhbmFyeQ"]
  private static let length = 6_000_000

  enum Way: String, CaseIterable {
    case header, headerFile, userFile, userVariable, netrc, userInfo, query, location, proxy
  }

  enum Ending: String, CaseIterable { case success, refusal, cut, interrupt }

  /// What is run, and where it may be found out that the secret has really been sent.
  private struct Run {
    var arguments: [String]
    var environment = HaulProcess.environment
    /// Whether the secret stands in a file, so that the process list must not show it.
    var isHidden = false
  }

  private func resource(_ ending: Ending) -> OriginResource {
    let resource = OriginResource.reference(seed: 5, length: Self.length)
    switch ending {
    case .success: return resource
    case .refusal: return .reference(seed: 5, length: Self.length, faults: [Fault.status(404).on(.every)])
    case .cut:
      return .reference(
        seed: 5, length: Self.length,
        faults: [Fault.closeAfter(1_500_000).on(.nth(1)), Fault.resetAfter(0).on(.sinceNth(2))])
    case .interrupt: return resource.gated(at: 1_500_000)
    }
  }

  private func write(_ text: String, to path: String) throws {
    try Files.write(text, to: path)
    #expect(chmod(path, 0o600) == 0)
  }

  private func run(_ way: Way, _ arena: Arena, secrets: TemporaryDirectory) throws -> Run {
    let direct = arena.origin.url("/f")
    switch way {
    case .header: return Run(arguments: [direct, "-H", "X-Token: \(Self.canary)"])
    case .headerFile:
      try write("X-Token: \(Self.canary)\nX-Other: y\n", to: secrets.path(of: "headers"))
      return Run(arguments: [direct, "--header", "@" + secrets.path(of: "headers")], isHidden: true)
    case .userFile:
      try write("me:\(Self.canary)\n", to: secrets.path(of: "user"))
      return Run(arguments: [direct, "--user", "@" + secrets.path(of: "user")], isHidden: true)
    case .userVariable:
      var run = Run(arguments: [direct, "--user", "me"], isHidden: true)
      run.environment["HAUL_PASSWORD"] = Self.canary
      return run
    case .netrc:
      try write("machine 127.0.0.1 login me password \(Self.canary)\n", to: secrets.path(of: ".netrc"))
      var run = Run(arguments: [direct, "--netrc"], isHidden: true)
      run.environment["HOME"] = secrets.path
      return run
    case .userInfo: return Run(arguments: [direct.replacing("http://", with: "http://me:\(Self.canary)@")])
    case .query: return Run(arguments: [direct + "?token=\(Self.canary)"])
    case .location:
      arena.origin.put(.redirect(to: "/f?X-Amz-Signature=\(Self.canary)"), at: "/r")
      return Run(arguments: [arena.origin.url("/r"), "-o", arena.folder.path(of: "f")], isHidden: true)
    case .proxy:
      var run = Run(arguments: ["http://file.invalid/f"], isHidden: true)
      run.environment["http_proxy"] = arena.origin.url("").replacing(
        "http://", with: "http://me:\(Self.canary)@")
      return run
    }
  }

  private static let rows = Way.allCases.flatMap { way in Ending.allCases.map { (way, $0) } }

  @Test("no secret is in anything that a run leaves or says", arguments: rows)
  func canary(way: Way, ending: Ending) throws {
    let arena = try Arena(["/f": resource(ending)])
    let secrets = try TemporaryDirectory()
    let run = try run(way, arena, secrets: secrets)
    let place = run.arguments.contains("-o") ? [] : ["-d", arena.folder.path]
    let process = try HaulProcess.start(
      run.arguments + place + ["-c", "1", "--retries", "0"], environment: run.environment)
    if ending == .interrupt {
      #expect(arena.waitUntilHeld(1))
      #if os(Linux)
      if run.isHidden { try expectClean("/proc/\(process.pid)/cmdline") }
      #endif
      process.signal(SIGINT)
    }
    let ended = process.wait()
    let codes: [Ending: Int32] = [.success: 0, .refusal: 11, .cut: 10, .interrupt: 130]
    #expect(ended.end == .exit(try #require(codes[ending])), "\(ended.errors)")

    // It has been sent, so there was something to leak.
    #expect(
      arena.origin.requests().contains { request in
        Self.isFound(in: request.target) || request.fields.contains { Self.isFound(in: $0.value) }
      })
    #expect(!Self.isFound(in: ended.output) && !Self.isFound(in: ended.errors), "\(ended.errors)")
    if ending == .cut { #expect(arena.names == ["f.haul", "f.haul-part"]) }
    for name in arena.names {
      #expect(!Self.isFound(in: name))
      try expectClean(arena.folder.path(of: name))
    }
  }

  private func expectClean(_ path: String, at location: SourceLocation = #_sourceLocation) throws {
    let bytes = try Files.bytes(of: path)
    // Latin-1, so that no byte of the data is lost on the way to text.
    let text = String(String.UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) }))
    #expect(!Self.isFound(in: text), "\(path)", sourceLocation: location)
  }

  private static func isFound(in text: String) -> Bool {
    ([canary] + disguises).contains { text.contains($0) }
  }
}
