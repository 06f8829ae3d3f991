// SPDX-License-Identifier: Apache-2.0

import Testing

/// Who may import whom. Imports only go down, and siblings never import each other.
struct LayerTests {
  /// The standard library's own modules, and the system's C library.
  private static let standard: Set = ["Swift", "Synchronization"]
  private static let system: Set = ["Glibc", "Darwin", "Musl"]

  /// For each target all that it may import beside the standard library. A new target needs a line here.
  private static let allowed: [String: Set<String>] = [
    "HaulCore": [],
    "HaulPlatform": system.union(["CPlatform"]),
    "HaulTransport": system.union(["HaulCore", "HaulPlatform", "CCurl"]),
    "HaulDisk": system.union(["HaulCore", "HaulPlatform", "CPlatform", "CXXHash"]),
    "HaulDigest": system.union(["HaulCore", "HaulPlatform", "COpenSSL", "CXXHash"]),
    "Haul": system.union(["HaulCore", "HaulPlatform", "HaulTransport", "HaulDisk", "HaulDigest"]),
    "HaulOrigin": system.union(["CPlatform"]),
    "HaulCommand": system.union(["ArgumentParser", "Haul", "HaulCore", "HaulDigest", "HaulOrigin"]),
  ]
  /// Of the C targets there is nothing to check: they import no Swift.
  private static let foreign: Set = ["CCurl", "COpenSSL", "CXXHash", "CPlatform"]

  @Test("the tests see the tree")
  func treeIsThere() {
    #expect(SourceTree.sources.count > 100)
    #expect(Set(SourceTree.sources.map(\.target)) == Set(Self.allowed.keys).union(Self.foreign))
    #expect(SourceTree.sources.contains { $0.imports.contains("CCurl") })
  }

  @Test("a target imports only what its layer may", arguments: allowed.keys.sorted())
  func imports(target: String) throws {
    let allowed = try #require(Self.allowed[target]).union(Self.standard)
    for file in SourceTree.sources where file.target == target && file.isSwift {
      let wrong = Set(file.imports).subtracting(allowed)
      #expect(wrong.isEmpty, "\(file) imports \(wrong.sorted())")
    }
  }

  @Test(
    "each system library has the importers that it was given",
    arguments: [
      ("CCurl", ["HaulTransport"]), ("COpenSSL", ["HaulDigest"]), ("CXXHash", ["HaulDigest", "HaulDisk"]),
      ("HaulOrigin", ["HaulCommand"]),
    ] as [(String, [String])])
  func importers(module: String, targets: [String]) {
    let found = Set(SourceTree.sources.filter { $0.imports.contains(module) }.map(\.target))
    #expect(found == Set(targets))
  }

  @Test("no Foundation: a static binary would be three times as large and start slower")
  func noFoundation() {
    for file in SourceTree.sources {
      let wrong = file.imports.filter { $0.hasPrefix("Foundation") || $0 == "Dispatch" }
      #expect(wrong.isEmpty, "\(file) imports \(wrong)")
    }
  }

  @Test("nothing outside of Haul is public")
  func onlyHaulIsPublic() {
    for file in SourceTree.sources where file.isSwift && file.target != "Haul" {
      for (number, line) in file.code.enumerated() {
        let words = line.split(whereSeparator: { !$0.isLetter && $0 != "_" })
        #expect(!words.contains("public") && !line.contains("open class "), "\(file):\(number + 1)")
      }
    }
  }
}
