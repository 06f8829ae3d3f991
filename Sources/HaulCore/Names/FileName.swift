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
  package static func fromURLPath(_ path: String) -> String? {
    guard
      let component = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last,
      !component.isEmpty
    else { return nil }
    return sanitise(String(decoding: FieldText.percentDecoded(component).bytes, as: UTF8.self))
  }

  /// Whether the last component of `path` ends like a web page's.
  package static func isPage(_ path: String) -> Bool {
    let name = FieldText.lowercased(String(path.split(separator: "/").last ?? ""))
    return [".html", ".htm", ".xhtml", ".xht"].contains(where: name.hasSuffix)
  }

  /// As many whole characters as fit, without dots and spaces at the end.
  private static func shortened(_ name: String) -> String {
    var kept = Substring(name)
    if name.utf8.count > mostBytes {
      var end = name.startIndex
      var size = 0
      while end < name.endIndex {
        size += name[end].utf8.count
        if size > mostBytes { break }
        end = name.index(after: end)
      }
      kept = name[..<end]
    }
    var scalars = kept.unicodeScalars
    while let last = scalars.last, last == "." || last.properties.isWhitespace { scalars.removeLast() }
    return String(Substring(scalars))
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
