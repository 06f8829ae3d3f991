// SPDX-License-Identifier: Apache-2.0

/// One reader of strangers' bytes, and what must hold whatever it is given.
///
/// The same function is called by libFuzzer (`make fuzz`) and, with the kept corpus and what becomes of it by a
/// few mutations, by the ordinary tests.
package struct FuzzTarget: Sendable {
  /// Also the name of its folder in the corpus.
  package let name: String
  /// The longest input that is worth trying, in bytes.
  package let mostBytes: Int
  package let check: @Sendable ([UInt8]) throws -> Void

  init(_ name: String, mostBytes: Int = 512, _ check: @escaping @Sendable ([UInt8]) throws -> Void) {
    self.name = name
    self.mostBytes = mostBytes
    self.check = check
  }

  package static let all: [FuzzTarget] = [
    contentRange, contentDisposition, entityTag, httpDate, retryAfter, responseHead, hexDigest, digestFields,
    checksum, checksumFile,
    urlName, location, terminalText, manifestHeader, manifestSlot, manifestFile,
  ]
}

/// What does not hold.
package struct Violation: Error, CustomStringConvertible {
  package let description: String
}

func insist(_ holds: Bool, _ what: @autoclosure () -> String) throws {
  if !holds { throw Violation(description: what()) }
}

/// Cuts an input into pieces, front first. An input that is too short gives zeros.
struct InputReader {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  /// Least significant byte first.
  mutating func word() -> UInt64 { (0..<8).reduce(0) { $0 | UInt64(byte()) << UInt64(8 * $1) } }

  mutating func bytes(_ count: Int) -> ArraySlice<UInt8> {
    let taken = rest.prefix(count)
    rest = rest.dropFirst(count)
    return taken
  }
}
