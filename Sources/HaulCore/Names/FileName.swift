// SPDX-License-Identifier: Apache-2.0

/// Names for files out of what a server or a URL suggests.
///
/// All of this works on scalars: a slash followed by a combining mark is one `Character` that is not `/`, yet
/// on disk it is still a slash.
package enum FileName {
  /// The longest name, in bytes of UTF-8: what filesystems allow, less the room for our own suffixes.
  package static let mostBytes = 255 - 16
  /// The name when nothing of the suggestion is left.
  package static let fallback = "download"

  private static let reservedSuffixes = [".haul-part", ".haul"]
  private static let devices: Set<String> = [
    "con", "prn", "aux", "nul", "conin$", "conout$",
    "com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "com¹", "com²", "com³",
    "lpt0", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9", "lpt¹", "lpt²", "lpt³",
  ]

  /// A name that stays inside its directory, is not hidden, is no option and no device, fits, and is none of
  /// our own files. A name that is all this already is returned as it is.
  ///
  /// Not normalised to NFC: the standard library offers that only as an underscored interface, and Foundation
  /// is not linked. Two spellings of one name are then two names, which no rule here depends on.
  package static func sanitise(_ raw: String) -> String {
    let component = raw.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }
      .last
    var scalars = String.UnicodeScalarView()
    scalars.append(
      contentsOf: (component ?? Substring.UnicodeScalarView()).filter {
        !TextControls.isControl($0) && !TextControls.isLayoutControl($0)
      })
    let visible = scalars.drop { $0 == "." || $0 == "-" || $0.properties.isWhitespace }
    var name = shortened(String(Substring(visible)))
    if isDevice(name) { name = shortened("_" + name) }
    if reservedSuffixes.contains(where: { hasSuffix(name, $0) }) {
      if name.utf8.count >= mostBytes { name.unicodeScalars.removeLast() }
      name += "_"
    }
    return name.isEmpty ? fallback : name
  }

  /// The last component of a path that is still percent-encoded, decoded once and sanitised; nil when it is
  /// empty.
  ///
  /// It is cut off before it is decoded, so that `%2F` cannot move the cut.
  package static func fromURLPath(_ path: String) -> String? { raw(inURLPath: path).map(sanitise) }

  /// The same before it is sanitised.
  package static func raw(inURLPath path: String) -> String? {
    guard
      let component = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last,
      !component.isEmpty
    else { return nil }
    return String(decoding: FieldText.percentDecoded(component).bytes, as: UTF8.self)
  }

  /// Whether the last component of `path` ends like a web page's.
  package static func isPage(_ path: String) -> Bool {
    let name = FieldText.lowercased(String(path.split(separator: "/").last ?? ""))
    return [".html", ".htm", ".xhtml", ".xht"].contains(where: name.hasSuffix)
  }

  /// As many whole characters as fit, without dots and spaces at the end. What the name ends in stays: it tells
  /// what the file is.
  private static func shortened(_ name: String) -> String {
    let whole = trimmed(Substring(name))
    guard whole.utf8.count > mostBytes else { return whole }
    let ending = ending(of: whole)
    let stem = trimmed(prefix(of: whole, bytes: mostBytes - ending.utf8.count))
    return stem.isEmpty ? "" : stem + ending
  }

  private static func trimmed(_ name: Substring) -> String {
    var scalars = name.unicodeScalars
    while let last = scalars.last, last == "." || last.properties.isWhitespace { scalars.removeLast() }
    return String(Substring(scalars))
  }

  private static func prefix(of name: String, bytes: Int) -> Substring {
    var end = name.startIndex
    var size = 0
    while end < name.endIndex {
      size += name[end].utf8.count
      if size > bytes { break }
      end = name.index(after: end)
    }
    return name[..<end]
  }

  /// `.iso`, `.tar.gz`: up to two short pieces of ASCII letters and digits behind dots, the first of two with a
  /// letter. Empty where there is none.
  private static func ending(of name: String) -> String {
    var kept = ""
    var rest = Array(name.utf8)[...]
    for _ in 0..<2 {
      guard let dot = rest.lastIndex(of: UInt8(ascii: ".")), dot > rest.startIndex else { break }
      let piece = rest[(dot + 1)...]
      guard (1...8).contains(piece.count), piece.allSatisfy(isPlain),
        kept.isEmpty || !piece.allSatisfy(FieldText.isDigit)
      else { break }
      kept = "." + String(decoding: piece, as: UTF8.self) + kept
      rest = rest[..<dot]
    }
    return kept
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    FieldText.isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(FieldText.lowercased(byte))
  }

  /// Whether Windows would open a device: it looks only at what stands before the first dot.
  private static func isDevice(_ name: String) -> Bool {
    var stem = name.unicodeScalars.prefix { $0 != "." }
    while stem.last == " " { stem.removeLast() }
    return devices.contains(FieldText.lowercased(Substring(stem)))
  }

  /// Case does not count: some filesystems do not tell it apart.
  private static func hasSuffix(_ name: String, _ suffix: String) -> Bool {
    name.utf8.suffix(suffix.utf8.count).map(FieldText.lowercased).elementsEqual(suffix.utf8)
  }
}
