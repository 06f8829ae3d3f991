// SPDX-License-Identifier: Apache-2.0

import Haul
import HaulDisk
import HaulOrigin
import TestSupport

/// One seed: a scripted origin, a download from it with the library, and a look at what is there afterwards.
struct ScriptedRun {
  /// How it went.
  struct Report: Sendable {
    let temper: OriginScript.Temper
    let isComplete: Bool
    /// What went against the promise; empty where nothing did.
    let problems: [String]
  }

  let seed: UInt64
  private let script: OriginScript
  private let bench: Bench
  private let sha256: String?
  /// Whether a failure is followed by another run, against a server that means well by now.
  private let triesAgain: Bool
  private let connections: Int

  init(seed: UInt64) throws {
    self.seed = seed
    var dice = SeededGenerator(seed: seed)
    script = OriginScript(&dice)
    bench = try Bench(
      ["/f": script.resource, "/g": script.resource], configuration: script.configuration,
      bufferBytes: 4 << 20)
    sha256 = Bool.random(using: &dice) ? try digest(of: script.files[0]) : nil
    triesAgain = Bool.random(using: &dice)
    connections = Int.random(in: 1...6, using: &dice)
  }

  /// Blocks the calling thread until the download has ended and everything is looked at.
  func run() -> Report {
    var problems: [String] = []
    var isComplete = false
    switch fetch() {
    case nil: problems.append("no outcome")
    case .success(let result)?:
      isComplete = true
      if let wrong = wrongFile(result, allowed: script.files) { problems.append(wrong) }
    case .failure(let error)?:
      if error.message.isEmpty { problems.append("an error without a word") }
      if script.temper == .still { problems.append("\(error)") }
      problems += leftovers()
      if triesAgain { problems += again() }
    }
    return Report(
      temper: script.temper, isComplete: isComplete,
      problems: problems.map { "\(reproduction): \($0) \(notes)" })
  }

  private var reproduction: String { "HAUL_SEED=\(seed) swift test --filter PromiseTests" }

  private var notes: String {
    let digest = sha256 == nil ? "no digest" : "a digest"
    return
      "[\(script.temper), \(digest), \(connections) connections, \(script.notes.joined(separator: ", "))]"
  }

  private func fetch() -> Result<DownloadResult, DownloadError>? {
    let isStill = script.temper == .still
    let download = bench.start(sha256: sha256) {
      $0.connections = .fixed(connections)
      $0.retries = isStill ? 20 : 2
      $0.silenceTimeout = 1
      $0.isDurable = false
    }
    download.waitUntil { _ in false }
    return download.outcome
  }

  /// Under the final name is one of the files, nothing else is in the folder, and the digest says what it may.
  private func wrongFile(_ result: DownloadResult, allowed: [ReferenceContent]) -> String? {
    if bench.names != ["f"] { return "the folder holds \(bench.names)" }
    let path = bench.folder.path(of: "f")
    if sha256 != nil {
      if result.digestStatus != .verified { return "the digest is \(result.digestStatus)" }
      return firstDifference(path, from: script.files[0]).map { "verified, but byte \($0) is wrong" }
    }
    if script.temper == .lying { return nil }
    let differences = allowed.compactMap { firstDifference(path, from: $0) }
    if differences.count < allowed.count { return nil }
    if let page = script.page, (try? Files.bytes(of: path)) == Array(page.utf8) { return nil }
    return "a wrong file of \(result.length) bytes: it differs at \(differences)"
  }

  /// Nothing is under the final name, and what is kept is locked by nobody.
  private func leftovers() -> [String] {
    var problems: [String] = []
    let names = bench.names
    if !Set(names).isSubset(of: ["f.haul", "f.haul-part"]) { problems.append("the folder holds \(names)") }
    guard names.contains("f.haul-part") else { return problems }
    do throws(DiskError) {
      try PartFile.open(Target(directory: bench.folder.path, name: "f"), overwrite: false, sync: false)
        .close()
    } catch {
      problems.append("what is kept cannot be opened: \(error)")
    }
    return problems
  }

  /// The same request to a server that serves the last of its files as it should.
  private func again() -> [String] {
    guard let clean = script.clean.last, let content = script.files.last else { return [] }
    bench.origin.put(clean, at: "/f")
    bench.origin.put(clean, at: "/g")
    bench.origin.configure { $0.connectionLimit = nil }
    guard case .success(let result)? = fetch() else { return leftovers().map { "again: \($0)" } }
    return wrongFile(result, allowed: [content]).map { ["again: \($0)"] } ?? []
  }
}

private func digest(of content: ReferenceContent) throws -> String {
  try HaulTests.sha256(seed: content.seed, length: content.length)
}
