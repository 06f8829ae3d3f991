// SPDX-License-Identifier: Apache-2.0

/// A list of digests and file names, as `sha256sum` writes it (`HEX  name`, `HEX *name`, `\HEX  na\\me`) or BSD's
/// tools and `--tag` do (`SHA256 (name) = HEX`).
///
/// Lines of any other form are skipped: comments, and what a signature puts around a list. Reading is total and
/// takes time in proportion to the size.
package struct ChecksumFile: Equatable, Sendable {
  /// The longest list that is read, in bytes.
  package static let mostBytes = 4 << 20
  /// The longest line, in bytes: nothing longer is a name.
  package static let mostLineBytes = 8 << 10
  /// How many names an error lists.
  static let mostShown = 10

  package struct Entry: Equatable, Sendable {
    package let digest: ExpectedDigest
    /// As it stands in the list, unescaped; nil for a digest alone on its line.
    package let name: String?
  }

  package private(set) var entries: [Entry] = []

  package init(_ bytes: [UInt8]) throws(ChecksumFileProblem) {
    guard bytes.count <= Self.mostBytes else { throw .tooLarge }
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let text = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
    for (index, line) in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .enumerated()
    {
      guard line.count <= Self.mostLineBytes else { throw .longLine(index + 1) }
      let isCarriage = line.last == UInt8(ascii: "\r")
      if let entry = Self.entry(isCarriage ? line.dropLast() : line) { entries.append(entry) }
    }
    guard !entries.isEmpty else { throw .noDigest }
  }

  /// The digest of the file `name`: of the lines whose last path component it is, those of the best algorithm,
  /// which must agree. A list of one digest without a name is taken for any.
  package func digest(of name: String) throws(ChecksumFileProblem) -> ExpectedDigest {
    let found = entries.filter { $0.isFor(name) }
    if found.isEmpty {
      if entries.count == 1, entries[0].name == nil { return entries[0].digest }
      throw .missing(name, listed: Self.shown(entries))
    }
    for algorithm in DigestAlgorithm.allCases {
      let lines = found.filter { $0.digest.algorithm == algorithm }
      guard let first = lines.first else { continue }
      guard lines.allSatisfy({ $0.digest == first.digest }) else {
        throw .ambiguous(name, listed: Self.shown(lines))
      }
      return first.digest
    }
    throw .missing(name, listed: Self.shown(entries))
  }

  /// Whether a line of it is for the file `name`.
  package func lists(_ name: String) -> Bool { entries.contains { $0.isFor(name) } }

  private static func entry(_ line: ArraySlice<UInt8>) -> Entry? {
    var rest = line
    let isEscaped = rest.first == UInt8(ascii: "\\")
    if isEscaped { rest.removeFirst() }
    guard let (digest, name) = plain(rest) ?? tagged(rest) else { return nil }
    guard let name else { return Entry(digest: digest, name: nil) }
    return Entry(digest: digest, name: FieldText.decoded(isEscaped ? unescaped(name) : Array(name)))
  }

  /// `HEX  name`; a digest's length names its algorithm.
  private static func plain(_ line: ArraySlice<UInt8>) -> (ExpectedDigest, ArraySlice<UInt8>?)? {
    let digits = line.prefix { FieldText.hexValue($0) != nil }
    guard digits.count % 2 == 0, let algorithm = DigestAlgorithm(byteCount: digits.count / 2),
      let digest = ExpectedDigest(algorithm, hex: String(decoding: digits, as: UTF8.self))
    else { return nil }
    var rest = line.dropFirst(digits.count)
    if FieldText.trimmed(rest).isEmpty { return (digest, nil) }
    guard let space = rest.popFirst(), FieldText.isSpace(space) else { return nil }
    rest = rest.drop(while: FieldText.isSpace)
    if rest.first == UInt8(ascii: "*") { rest.removeFirst() }
    return rest.isEmpty ? nil : (digest, rest)
  }

  /// `SHA256 (name) = HEX`, or OpenSSL's `SHA256(name)= HEX`. The name may hold parentheses itself.
  private static func tagged(_ line: ArraySlice<UInt8>) -> (ExpectedDigest, ArraySlice<UInt8>?)? {
    guard let open = line.firstIndex(of: UInt8(ascii: "(")),
      let close = line.lastIndex(of: UInt8(ascii: ")")),
      open < close
    else { return nil }
    let tag = String(decoding: FieldText.trimmed(line[..<open]), as: UTF8.self)
    var rest = FieldText.trimmed(line[(close + 1)...])
    guard let algorithm = DigestAlgorithm(named: tag), rest.popFirst() == UInt8(ascii: "="),
      let digest = ExpectedDigest(algorithm, hex: String(decoding: FieldText.trimmed(rest), as: UTF8.self))
    else { return nil }
    let name = line[(open + 1)..<close]
    return name.isEmpty ? nil : (digest, name)
  }

  private static func unescaped(_ name: ArraySlice<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    var isEscape = false
    for byte in name {
      if isEscape {
        let meant: [UInt8: UInt8] = [UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D]
        bytes.append(meant[byte] ?? byte)
        isEscape = false
      } else if byte == UInt8(ascii: "\\") {
        isEscape = true
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }

  private static func shown(_ entries: [Entry]) -> String {
    let names = entries.map { $0.name ?? "a digest without a name" }
    let more = names.count > mostShown ? " and \(names.count - mostShown) more" : ""
    return names.prefix(mostShown).joined(separator: ", ") + more
  }
}

extension ChecksumFile.Entry {
  /// Names are made safe before a file gets them, so the listed one is compared in both forms.
  func isFor(_ wanted: String) -> Bool {
    guard let name, let last = name.utf8.split(separator: UInt8(ascii: "/")).last else { return false }
    let component = String(decoding: last, as: UTF8.self)
    return FieldText.identical(component, wanted)
      || wanted != FileName.fallback && FieldText.identical(FileName.sanitise(component), wanted)
  }
}

/// Why a list of digests does not tell the one that is wanted.
package enum ChecksumFileProblem: Error, Equatable, Sendable, CustomStringConvertible {
  case tooLarge
  /// The number of the line, from 1.
  case longLine(Int)
  case noDigest
  case missing(String, listed: String)
  case ambiguous(String, listed: String)

  /// For people; holds names from the list, which are not escaped.
  package var description: String {
    switch self {
    case .tooLarge: "it is longer than \(ChecksumFile.mostBytes >> 20) MiB"
    case .longLine(let number): "its line \(number) is longer than \(ChecksumFile.mostLineBytes >> 10) KiB"
    case .noDigest: "no line of it is a digest as sha256sum or sha256sum --tag writes it"
    case .missing(let name, let listed): "it has no line for \(name), only for \(listed)"
    case .ambiguous(let name, let listed): "it has different digests for \(name): \(listed)"
    }
  }
}
