// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

/// One server and what the real command must make of it. The promises that hold for every case are asserted by
/// ``CatalogueRun`` and not repeated here.
struct CatalogueCase: Sendable, CustomTestStringConvertible {
  enum Outcome: Sendable {
    /// Exit 0 and exactly the right bytes.
    case file
    /// Exit 0 and bytes that only an outside digest could tell from the right ones: never called verified.
    case unverified
    /// One of these exit codes, and nothing under the final name.
    case failure([Int32])
    /// `file`, or any error that the command documents.
    case either

    static func error(_ codes: Int32...) -> Outcome { .failure(codes) }
  }

  /// As in the catalogue, with a letter where a case has several sides.
  let id: String
  let title: String
  let expected: Outcome
  /// What is at `/f`, the path that is asked for.
  var resource = OriginResource.reference(seed: 1, length: Self.length)
  var others: [String: OriginResource] = [:]
  var configuration = Self.calm
  var arguments = ["-c", "4", "--retries", "3"]
  /// Instead of `/f`.
  var url: @Sendable (Arena) -> String = { $0.origin.url("/f") }
  var name = "f"
  /// The files of which the outcome may be any.
  var contents = [ReferenceContent(seed: 1, length: Self.length)]
  /// Whether an error leaves a file under the final name: the one that was there before.
  var keepsTarget = false
  /// Seconds after which a run is killed and has failed: longer than any case has to wait on a busy machine.
  var deadline = 150.0
  /// What happens before, such as a first run that is cut.
  var prepare: (@Sendable (Arena) throws -> Void)?
  /// What has to be on its two outputs before it gets a Ctrl-C; nil for none.
  var interruptsAfter: (@Sendable (_ output: String, _ errors: String) -> Bool)?
  /// What happens while the command runs.
  var during: (@Sendable (Arena) throws -> Void)?
  var check: (@Sendable (CatalogueRun) throws -> Void)?
  /// What has to be built before this can hold.
  var awaited: String?
  /// Whether until then even a promise is broken.
  var breaksPromise = false

  var testDescription: String { "\(id) \(title)" }

  /// More than the first request asks for, so that several connections take part.
  static let length = 9 << 20 | 3

  /// A pace at which the first part is not there before others have asked for theirs.
  private static let calm: OriginConfiguration = {
    var configuration = OriginConfiguration()
    configuration.bytesPerSecondPerConnection = 12 << 20
    return configuration
  }()

  init(
    _ id: String, _ title: String, _ expected: Outcome, _ faults: [FaultRule] = [],
    _ configure: (inout CatalogueCase) -> Void = { _ in }
  ) {
    self.id = id
    self.title = title
    self.expected = expected
    resource.faults = faults
    configure(&self)
  }

  /// Marks what cannot hold before `what` is built: a known issue, which is shown, and which fails once it holds.
  /// The promises have to hold all the same, unless `breaksPromise` says otherwise.
  func awaits(_ what: String, breaksPromise: Bool = false) -> CatalogueCase {
    var copy = self
    copy.awaited = what
    copy.breaksPromise = breaksPromise
    return copy
  }

  /// Leaves a partial file of the resource's first bytes, as a run that was cut does.
  static let cutRun: @Sendable (Arena) throws -> Void = { arena in
    var faults: [FaultRule] = []
    arena.origin.update("/f") {
      faults = $0.faults
      $0.faults = [Fault.closeAfter(3 << 20).on(.nth(1)), Fault.status(500).on(.sinceNth(2))]
    }
    _ = try HaulProcess.run([arena.origin.url("/f"), "-d", arena.folder.path, "-c", "1", "--retries", "0"])
    arena.origin.update("/f") {
      $0.faults = faults
      $0.forgetRequests()
    }
  }
}
