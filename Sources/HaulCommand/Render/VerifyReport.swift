// SPDX-License-Identifier: Apache-2.0

import HaulCore

/// What the command says about a file that it has read. Pure.
struct VerifyReport {
  var path: String
  var length: Int
  var digests: DigestSet
  /// Empty: there was nothing to compare with.
  var wanted: [ExpectedDigest]

  /// A line for the file, and one for each digest that is not wrong.
  var lines: [String] {
    let file = "\(TerminalSafe.escaped(path)): \(Quantities.bytes(length))"
    if wanted.isEmpty { return [file] + digests.all.map { "\($0.algorithm) \($0.hex) computed" } }
    return [file]
      + wanted.filter { digests[$0.algorithm] == $0.bytes }.map {
        "\($0.algorithm) \($0.hex) \($0.isStrong ? "verified" : "matches (weak)")"
      }
  }

  var errors: [String] {
    let wrong = wanted.filter { digests[$0.algorithm] != $0.bytes }
    if wrong.isEmpty { return [] }
    return wrong.map {
      let found = HexDigest(bytes: digests[$0.algorithm] ?? []).hex
      return "haul: the \($0.algorithm.name) of \(TerminalSafe.escaped(path)) is \(found), not \($0.hex)"
    } + [
      "haul: do not use the file; compare the digest with its publisher's, or fetch it again with --overwrite"
    ]
  }

  /// The live line, in fewer than `columns` cells.
  static func progress(path: String, done: Int, of length: Int, rate: Double?, columns: Int) -> String {
    let percent = length == 0 ? 100 : min(100, Int(Double(done) / Double(length) * 100))
    var tail = "  \(percent)%  \(Quantities.bytes(done))/\(Quantities.bytes(length))"
    if let rate, rate > 0 {
      tail += "  \(Quantities.rate(rate))"
      if columns >= 60 { tail += "  \(Quantities.duration(Double(max(0, length - done)) / rate)) left" }
    }
    let name = TerminalSafe.escaped(path.split(separator: "/").last.map(String.init) ?? path)
    let room = max(8, columns - 12 - tail.count)
    let shown = name.count > room ? name.prefix(room / 2 - 1) + "~" + name.suffix(room - room / 2) : name
    return String("checking \(shown)\(tail)".prefix(max(0, columns - 1)))
  }
}
