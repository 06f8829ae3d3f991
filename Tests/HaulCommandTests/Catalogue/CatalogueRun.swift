// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The real command against one case, and what is true afterwards.
struct CatalogueRun: Sendable {
  /// Sent with every request; nobody may see it but the origin.
  private static let secret = "canary-5e1f"
  /// What the command documents for a server that cannot be fetched from.
  private static let documented: Set<Int32> = [10, 11, 12, 13, 14, 16, 17]

  let subject: CatalogueCase
  let arena: Arena
  let ended: ChildProcess.Ended
  /// Of the run under test alone.
  let requests: [RequestRecord]
  /// Whether what is under the final name is one of the files that it may be; compared where it may take its time.
  private let isRight: Bool

  init(_ subject: CatalogueCase) throws {
    self.subject = subject
    var resources = subject.others
    resources["/f"] = subject.resource
    arena = try Arena(resources, configuration: subject.configuration)
    try subject.prepare?(arena)
    let earlier = arena.origin.requests().count
    let process = try ChildProcess.start(
      HaulProcess.path,
      [subject.url(arena), "-d", arena.folder.path, "-H", "X-Secret: \(Self.secret)"] + subject.arguments,
      environment: HaulProcess.environment, lifetime: subject.deadline)
    try subject.during?(arena)
    if let condition = subject.interruptsAfter {
      #expect(process.waitForOutput(condition))
      process.signal(SIGINT)
    }
    ended = process.wait()
    requests = Array(arena.origin.requests()[earlier...])
    isRight = try subject.contents.contains { [arena] in try arena.holds(subject.name, $0) }
  }

  /// Body bytes that the origin has sent.
  var bytesSent: Int { requests.reduce(0) { $0 + $1.bodyBytesSent } }

  func count(status: Int) -> Int { requests.count { $0.status == status } }

  func wereSent(_ field: String) -> Bool { requests.contains { $0.fields[field] != nil } }

  /// Everything that the promises and the case say.
  func verify() throws {
    if !subject.breaksPromise { verifyPromises() }
    guard let awaited = subject.awaited else { return try verifyCase() }
    withKnownIssue("awaits \(awaited)") {
      if subject.breaksPromise { verifyPromises() }
      try verifyCase()
    }
  }

  private func verifyCase() throws {
    verifyOutcome()
    try subject.check?(self)
  }

  /// What holds whatever the server does.
  private func verifyPromises() {
    #expect(ended.end != .signal(SIGKILL), "it hung, and was killed after \(subject.deadline) s")
    #expect(requests.allSatisfy { $0.method == "GET" })
    #expect(ended.stderr.isHarmlessText && ended.stdout.isHarmlessText, "\(ended.errors.debugDescription)")
    #expect(!ended.output.contains(Self.secret) && !ended.errors.contains(Self.secret))
    let leftovers = [subject.name + ".haul", subject.name + ".haul-part"]
    #expect(Set(arena.names).isSubset(of: leftovers + [subject.name]), "\(arena.names)")
    if let sidecar = try? Files.text(of: arena.folder.path(of: subject.name + ".haul")) {
      #expect(!sidecar.contains(Self.secret))
    }
    if case .unverified = subject.expected { return }
    let isThere = arena.names.contains(subject.name)
    #expect(isRight || !isThere, "wrong bytes under the final name")
  }

  private func verifyOutcome() {
    switch subject.expected {
    case .file: verifyDone()
    case .unverified:
      verifyDone()
      #expect(ended.output.contains("computed") && !ended.output.contains("verified"), "\(ended.output)")
    case .failure(let codes): verifyFailed(codes)
    case .either: if ended.end == .exit(0) { verifyDone() } else { verifyFailed(Array(Self.documented)) }
    }
  }

  private func verifyDone() {
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(arena.names == [subject.name])
  }

  private func verifyFailed(_ codes: [Int32]) {
    #expect(codes.contains { ended.end == .exit($0) }, "\(ended.end) \(ended.output) \(ended.errors)")
    #expect(arena.names.contains(subject.name) == subject.keepsTarget)
    #expect(!ended.stderr.isEmpty)
  }
}
