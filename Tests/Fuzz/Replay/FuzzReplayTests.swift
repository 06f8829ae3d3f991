// SPDX-License-Identifier: Apache-2.0

import FuzzTargets
import TestSupport
import Testing

/// The fuzzers' kept inputs and a few thousand made of them, on every system. `make fuzz` looks further.
struct FuzzReplayTests {
  private static let mutations = 400

  @Test("whatever a reader is given, what must hold of it holds", arguments: FuzzTarget.all.map(\.name))
  func replay(name: String) throws {
    let target = try #require(FuzzTarget.all.first { $0.name == name })
    let corpus = try Self.corpus(of: name)
    try #require(!corpus.isEmpty, "Tests/Fuzz/Corpus/\(name) is empty")
    for (file, input) in corpus {
      #expect(throws: Never.self, "Tests/Fuzz/Corpus/\(name)/\(file)") { try target.check(input) }
    }
    var mutator = Mutator(seed: 1, corpus: corpus.map(\.input), mostBytes: target.mostBytes)
    for number in 0..<Self.mutations {
      let input = mutator.next()
      #expect(throws: Never.self, "mutation \(number): \(hex(input))") { try target.check(input) }
    }
  }

  @Test("every folder of the corpus belongs to a target")
  func folders() {
    #expect(Files.names(in: Self.root) == FuzzTarget.all.map(\.name).sorted())
  }

  private static let root =
    #filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined() + "/Corpus"

  private static func corpus(of name: String) throws -> [(file: String, input: [UInt8])] {
    try Files.names(in: "\(root)/\(name)").map { ($0, try Files.bytes(of: "\(root)/\(name)/\($0)")) }
  }

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
