// SPDX-License-Identifier: Apache-2.0

/// What a file's name may be, said a second time and without looking at how names are made.
enum NameGrammar {
  private static let devices: Set<String> = {
    var names: Set = ["con", "prn", "aux", "nul", "conin$", "conout$"]
    for device in ["com", "lpt"] {
      for digit in "0123456789¹²³" { names.insert("\(device)\(digit)") }
    }
    return names
  }()

  static func check(_ name: String) throws {
    let scalars = Array(name.unicodeScalars)
    guard let first = scalars.first, let last = scalars.last else { throw Violation(description: "no name") }
    try insist(name.utf8.count <= 239, "a name of \(name.utf8.count) bytes")
    for scalar in scalars {
      try insist(scalar != "/" && scalar != "\\", "\(name.debugDescription) leads elsewhere")
      try insist(!isControl(scalar) && !turnsText(scalar), "\(name.debugDescription) acts on a terminal")
    }
    try insist(
      first != "." && first != "-" && !isBlank(first), "\(name.debugDescription) is hidden or an option")
    try insist(last != "." && !isBlank(last), "\(name.debugDescription) loses its end on some filesystems")
    let small = String(decoding: name.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    try insist(!endsIn(small, ".haul") && !endsIn(small, ".haul-part"), "\(name.debugDescription) is ours")
    var stem = small.unicodeScalars.prefix { $0 != "." }
    while stem.last == " " { stem.removeLast() }
    try insist(!devices.contains(String(Substring(stem))), "\(name.debugDescription) is a device")
  }

  private static func endsIn(_ name: String, _ suffix: String) -> Bool {
    name.utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
  }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isWhitespace }

  private static func turnsText(_ scalar: Unicode.Scalar) -> Bool {
    [0x061C, 0x200E, 0x200F].contains(scalar.value) || (0x2028...0x202E).contains(scalar.value)
      || (0x2066...0x2069).contains(scalar.value)
  }
}

/// C0, DEL and C1.
func isControl(_ scalar: Unicode.Scalar) -> Bool {
  scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
}
