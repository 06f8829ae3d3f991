// SPDX-License-Identifier: Apache-2.0

import HaulCore

/// Numbers as people read them. Pure.
enum Quantities {
  /// "999 B", "1.0 MB", "12.3 GB", "1.05 TB".
  static func bytes(_ count: Int) -> String { ByteCountText.decimal(count) }

  static func rate(_ bytesPerSecond: Double) -> String { bytes(Int(max(0, bytesPerSecond))) + "/s" }

  /// "0:07", "12:34", "3:04:05", "2 d 3 h".
  static func duration(_ seconds: Double) -> String {
    guard seconds.isFinite, seconds < 8_640_000 else { return "—" }
    let whole = Int(max(0, seconds).rounded(.up))
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
    if hours >= 48 { return "\(hours / 24) d \(hours % 24) h" }
    if hours > 0 { return "\(hours):\(two(minutes)):\(two(rest))" }
    return "\(minutes):\(two(rest))"
  }

  /// "0.42 s", "12.3 s", "4 min 10 s": how long something took.
  static func elapsed(_ seconds: Double) -> String {
    if seconds < 10 { return fixed(seconds, 2) + " s" }
    if seconds < 60 { return fixed(seconds, 1) + " s" }
    let whole = Int(seconds.rounded())
    if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
    return "\(whole / 3600) h \(whole / 60 % 60) min"
  }

  private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  static func fixed(_ value: Double, _ digits: Int) -> String { ByteCountText.fixed(value, digits) }
}
