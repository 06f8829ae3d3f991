// SPDX-License-Identifier: Apache-2.0

/// Dates as HTTP writes them (RFC 9110 section 5.6.7), as whole seconds since 1970 in UTC.
package enum HTTPDate {
  private static let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  private static let longDays = [
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
  ]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Reads an IMF-fixdate, an RFC 850 date or an asctime date; nil for anything else.
  ///
  /// The name of the day must be one but is not held against the date: servers get it wrong, and nothing here
  /// depends on it.
  package static func parse(_ text: String) -> Int? {
    // asctime pads the day with a second space.
    let parts = text.utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
    switch parts.count {
    case 6:
      guard parts[0].hasSuffix(","), days.contains(String(parts[0].dropLast())), parts[5] == "GMT" else {
        return nil
      }
      return seconds(year: parts[3], month: parts[2], day: parts[1], time: parts[4])
    case 5:
      return days.contains(parts[0])
        ? seconds(year: parts[4], month: parts[1], day: parts[2], time: parts[3]) : nil
    case 4:
      guard parts[0].hasSuffix(","), longDays.contains(String(parts[0].dropLast())), parts[3] == "GMT" else {
        return nil
      }
      let date = parts[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
      guard date.count == 3, date[2].utf8.count == 2, let short = FieldText.decimal(date[2].utf8) else {
        return nil
      }
      // Without a clock the century is chosen as POSIX does; HTTP is younger than 1970.
      return seconds(
        year: String(short < 70 ? 2000 + short : 1900 + short), month: date[1], day: date[0], time: parts[2])
    default:
      return nil
    }
  }

  /// The IMF-fixdate of `seconds` since 1970, for years 0 to 9999.
  package static func format(_ seconds: Int) -> String {
    let time = ((seconds % 86_400) + 86_400) % 86_400
    let dayNumber = (seconds - time) / 86_400
    let date = civil(fromDays: dayNumber)
    // 1970-01-01 was a Thursday.
    let weekday = days[((dayNumber + 3) % 7 + 7) % 7]
    return "\(weekday), \(padded(date.day, 2)) \(months[date.month - 1]) \(padded(date.year, 4)) "
      + "\(padded(time / 3600, 2)):\(padded(time / 60 % 60, 2)):\(padded(time % 60, 2)) GMT"
  }

  private static func seconds(year: String, month: String, day: String, time: String) -> Int? {
    guard year.utf8.count == 4, let year = FieldText.decimal(year.utf8),
      let index = months.firstIndex(of: month),
      (1...2).contains(day.utf8.count), let day = FieldText.decimal(day.utf8)
    else { return nil }
    let clock = time.split(separator: ":", omittingEmptySubsequences: false)
    guard clock.count == 3, clock.allSatisfy({ $0.utf8.count == 2 }),
      let hour = FieldText.decimal(clock[0].utf8), let minute = FieldText.decimal(clock[1].utf8),
      let second = FieldText.decimal(clock[2].utf8)
    else { return nil }
    // 60 is a leap second.
    guard hour < 24, minute < 60, second <= 60, day >= 1, day <= length(ofMonth: index + 1, year: year) else {
      return nil
    }
    return days(year: year, month: index + 1, day: day) * 86_400 + hour * 3600 + minute * 60 + second
  }

  private static func length(ofMonth month: Int, year: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  }

  /// Days since 1970-01-01 in the Gregorian calendar. Years run from March, so that the leap day comes last.
  private static func days(year: Int, month: Int, day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func civil(fromDays number: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = number + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    return (
      yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1
    )
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}
