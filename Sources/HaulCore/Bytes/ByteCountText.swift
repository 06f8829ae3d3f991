// SPDX-License-Identifier: Apache-2.0

/// Counts of bytes as people read them.
package enum ByteCountText {
  /// "999 B", "1.0 MB", "12.3 GB", "1.05 TB": decimal units, three digits or a little more.
  package static func decimal(_ count: Int) -> String {
    if count < 1000 { return "\(count) B" }
    var value = Double(count)
    var unit = 0
    while value >= 999.5, unit < 6 {
      value /= 1000
      unit += 1
    }
    let digits = value < 10 && unit >= 3 ? 2 : value < 99.95 ? 1 : 0
    return "\(fixed(value, digits)) \(["B", "kB", "MB", "GB", "TB", "PB", "EB"][unit])"
  }

  /// A number with a fixed count of digits after the point, without Foundation.
  package static func fixed(_ value: Double, _ digits: Int) -> String {
    var scale = 1
    for _ in 0..<digits { scale *= 10 }
    let scaled = Int((abs(value) * Double(scale)).rounded())
    let sign = value < 0 && scaled > 0 ? "-" : ""
    if digits == 0 { return "\(sign)\(scaled)" }
    let fraction = String(scaled % scale)
    return "\(sign)\(scaled / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
  }
}
