// SPDX-License-Identifier: Apache-2.0

/// The scalars that act on whatever shows them instead of being shown.
enum TextControls {
  /// C0, DEL and C1.
  static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
  }

  /// Turns the direction of text around, or breaks its line: what makes `exe.txt` out of `txt.exe`.
  static func isLayoutControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
