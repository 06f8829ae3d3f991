// SPDX-License-Identifier: Apache-2.0

import HaulTransport
import Testing

/// A URL that was read is the same URL when its text is read again.
struct URLRoundTripTests {
  @Test(
    "what was read reads the same again",
    arguments: [
      "https://example.org/f?", "https://example.org/f?#", "https://example.org?", "https://example.org/f?q",
      "HTTP://EXAMPLE.org:80/a b", "http://[::1]:8080/", "https://user:secret@example.org/f#part",
    ])
  func again(text: String) throws {
    let url = try RemoteURL(text)
    #expect(try RemoteURL(url.text) == url.withoutUserInfo)
  }

  @Test("an empty query, which is not sent, is none")
  func emptyQuery() throws {
    #expect(try !RemoteURL("https://example.org/f?").hasQuery)
    #expect(try RemoteURL("https://example.org/f?q").hasQuery)
    #expect(try !RemoteURL("https://example.org/f?q").resolve(location: "g?").hasQuery)
  }

  @Test(
    "a control character in a host is refused, encoded or not",
    arguments: ["http://a%7fb/", "http://a\u{7F}b/"])
  func controls(text: String) {
    #expect(throws: URLProblem.self) { try RemoteURL(text) }
  }
}
