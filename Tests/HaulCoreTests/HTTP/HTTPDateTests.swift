// SPDX-License-Identifier: Apache-2.0

import HaulCore
import TestSupport
import Testing

@Suite("HTTPDate")
struct HTTPDateTests {
  @Test(
    "the three forms",
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
      ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
      ("Sun Nov  6 08:49:37 1994", 784_111_777),
      ("Sun Nov 16 08:49:37 1994", 784_975_777),
      ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
      ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
      ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
      ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200),
      ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
      ("Sunday, 01-Jan-70 00:00:00 GMT", 0),
      ("Sunday, 01-Jan-69 00:00:00 GMT", 3_124_224_000),
      // The wrong day of the week is nobody's harm.
      ("Mon, 06 Nov 1994 08:49:37 GMT", 784_111_777),
    ])
  func forms(_ text: String, _ seconds: Int) {
    #expect(HTTPDate.parse(text) == seconds)
  }

  @Test(
    "no dates",
    arguments: [
      "", "0", "784111777", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
      "Xxx, 06 Nov 1994 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
      "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 2023 08:49:37 GMT",
      "Sun, 29 Feb 1900 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
      "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 -8:49:37 GMT",
      "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
      "Sun, 06 Nov 99999999999999999999 08:49:37 GMT", "1994-11-06T08:49:37Z",
      "Sun, 06 Nov 1994 08:49:37 GMT x",
    ])
  func refused(_ text: String) {
    #expect(HTTPDate.parse(text) == nil)
  }

  @Test(
    "writing",
    arguments: [
      (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
      (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
      (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
      (-62_167_219_200, "Sat, 01 Jan 0000 00:00:00 GMT"),
    ])
  func writing(_ seconds: Int, _ text: String) {
    #expect(HTTPDate.format(seconds) == text)
  }

  @Test("what is written is read back", arguments: 0..<8 as Range<UInt64>)
  func roundTrip(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let seconds = Int.random(in: -62_167_219_200...253_402_300_799, using: &generator)
      #expect(HTTPDate.parse(HTTPDate.format(seconds)) == seconds)
    }
  }
}
