// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

@Suite("RetryAfter")
struct RetryAfterTests {
  @Test(
    "seconds or a date, never longer than an hour",
    arguments: [
      ("0", 0), ("120", 120), (" 7 ", 7), ("3600", 3600), ("3601", 3600), ("99999999999999999999", 3600),
      ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 1994 08:50:00 GMT", 23),
      ("Sunday, 06-Nov-94 08:50:00 GMT", 23), ("Sun, 06 Nov 1994 07:00:00 GMT", 0),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 3600), ("", nil), ("-1", nil), ("+1", nil), ("1.5", nil), ("1h", nil),
      ("soon", nil), ("1, 2", nil),
    ] as [(String, Int?)])
  func values(_ text: String, _ expected: Int?) {
    #expect(RetryAfter.parse(text, now: 784_111_777) == expected)
  }

  @Test("any clock will do", arguments: [Int.min, 0, Int.max])
  func clocks(_ now: Int) {
    #expect(RetryAfter.parse("Sun, 06 Nov 1994 08:49:37 GMT", now: now) == (now > 0 ? 0 : 3600))
  }
}
