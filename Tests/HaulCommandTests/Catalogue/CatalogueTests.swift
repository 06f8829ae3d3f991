// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

/// Every case of the catalogue that a server can cause, against the real command: the right file or an error
/// that says so, nothing else under the final name, and always an end.
@Suite(.timeLimit(.minutes(10)))
struct CatalogueTests {
  @Test("ranges", arguments: Catalogue.ranges)
  func ranges(subject: CatalogueCase) async throws { try await verify(subject) }

  @Test("validators and digests", arguments: Catalogue.validators)
  func validators(subject: CatalogueCase) async throws { try await verify(subject) }

  @Test("the network and servers that limit", arguments: Catalogue.network)
  func network(subject: CatalogueCase) async throws { try await verify(subject) }

  @Test("names, secrets and redirects", arguments: Catalogue.names)
  func names(subject: CatalogueCase) async throws { try await verify(subject) }

  @Test("forms of an answer", arguments: Catalogue.forms)
  func forms(subject: CatalogueCase) async throws { try await verify(subject) }

  @Test("second runs", arguments: Catalogue.resumes)
  func resumes(subject: CatalogueCase) async throws { try await verify(subject) }

  @Test("quirks that servers were seen to have", arguments: Quirk.all.compactMap(\.ownCase))
  func quirks(subject: CatalogueCase) async throws { try await verify(subject) }

  @Test("no number of the catalogue is missing, and none is there twice")
  func isWhole() {
    let ids = Catalogue.all.map(\.id)
    #expect(Set(ids).count == ids.count)
    let numbers = ids.map { $0.prefix { $0.isNumber } } + Catalogue.elsewhere.keys.map { "\($0)"[...] }
    let wanted = (Array(1...60) + Array(92...102) + [119]).map { "\($0)"[...] }
    #expect(Set(numbers) == Set(wanted))
    #expect(Set(Quirk.all.map(\.number)) == Set(1...46))
    for quirk in Quirk.all {
      guard case .like(let others) = quirk.shown else { continue }
      for other in others { #expect(ids.contains(other), "quirk \(quirk.number): \(other)") }
    }
  }

  private func verify(_ subject: CatalogueCase) async throws {
    try await Turns.take { try CatalogueRun(subject) }.verify()
  }
}

/// The cases by what they are about. The numbers are those of the catalogue of cases.
enum Catalogue {
  static let all: [CatalogueCase] = ranges + validators + network + names + forms + resumes

  /// Numbers that other suites show, and where.
  static let elsewhere: [Int: String] = [
    52: "a connection that ends without close_notify: the TLS tests",
    53: "certificates: RealServerTests and the TLS tests",
    56: "fields in an answer to CONNECT: ProxyTests",
    58: "HTTP/2 is off: every request is HTTP/1.1, as the TLS tests show",
    92: "names from URLs and fields: NameTests", 93: "the same", 94: "the same", 95: "the same",
    96: "the same",
    98: "hostile fields: NameTests",
    101: "secrets in what is left behind: the canary tests", 102: "the process list: the canary tests",
  ]
}
