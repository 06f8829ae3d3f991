// SPDX-License-Identifier: Apache-2.0

/// IMF-fixdate, the one date format that HTTP still writes (RFC 9110 section 5.6.7). The obsolete forms do
/// not parse, and a condition with them is ignored.
package enum HTTPDate {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
  private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

  /// Text of a time in seconds since 1970 (0 or more), UTC.
  package static func text(_ seconds: Int) -> String {
    let days = seconds / 86_400
    let clock = seconds % 86_400
    let (year, month, day) = civil(days)
    return "\(weekdays[days % 7]), \(two(day)) \(months[month - 1]) \(year) "
      + "\(two(clock / 3600)):\(two(clock / 60 % 60)):\(two(clock % 60)) GMT"
  }

  /// Seconds since 1970 of an IMF-fixdate from 1970 to 9999, else nil. The weekday is not checked.
  package static func seconds(_ text: String) -> Int? {
    let words = text.split(separator: " ")
    guard words.count == 6, words[5] == "GMT", words[0].hasSuffix(","),
      let day = Int(words[1]), (1...31).contains(day),
      let month = months.firstIndex(of: String(words[2])),
      let year = Int(words[3]), (1970...9999).contains(year)
    else { return nil }
    let clock = words[4].split(separator: ":").map { Int($0) ?? -1 }
    guard clock.count == 3, (0...23).contains(clock[0]), (0...59).contains(clock[1]),
      (0...60).contains(clock[2])
    else { return nil }
    return days(year: year, month: month + 1, day: day) * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]
  }

  /// Days since 1970-01-01, counting years from March so that the leap day comes last.
  private static func days(year: Int, month: Int, day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
  }

  private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (
      yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    )
  }

  private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
