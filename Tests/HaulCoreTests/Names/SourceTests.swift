// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

@Suite("Origin and Source")
struct SourceTests {
  @Test(
    "an origin in one spelling",
    arguments: [
      ("HTTPS", "Example.ORG", nil, "https://example.org", 443),
      ("https", "example.org", 443, "https://example.org", 443),
      ("http", "example.org", nil, "http://example.org", 80),
      ("http", "example.org", 443, "http://example.org:443", 443),
      ("https", "example.org", 8443, "https://example.org:8443", 8443),
      ("http", "[::1]", 8080, "http://[::1]:8080", 8080),
      ("http", "FE80::1", nil, "http://[fe80::1]", 80),
    ] as [(String, String, Int?, String, Int)])
  func origins(_ scheme: String, _ host: String, _ port: Int?, _ text: String, _ expectedPort: Int) {
    let origin = Origin(scheme: scheme, host: host, port: port)
    #expect(origin.text == text)
    #expect(origin.port == expectedPort)
  }

  @Test("scheme, host and port all make another origin")
  func different() {
    let origins: Set = [
      Origin(scheme: "http", host: "a"), Origin(scheme: "https", host: "a"),
      Origin(scheme: "http", host: "b"),
      Origin(scheme: "http", host: "a", port: 81), Origin(scheme: "HTTP", host: "A", port: 80),
    ]
    #expect(origins.count == 4)
  }

  @Test(
    "a source has no query and no fragment",
    arguments: [
      ("/a/b.iso", "https://h/a/b.iso"), ("", "https://h/"), ("a", "https://h/a"),
      ("/a?X-Amz-Signature=secret", "https://h/a"), ("/a#token", "https://h/a"), ("?x", "https://h/"),
      ("/a?\u{301}x", "https://h/a"), ("/a%3Fb", "https://h/a%3Fb"),
    ])
  func sources(_ path: String, _ text: String) {
    #expect(Source(origin: Origin(scheme: "https", host: "h"), path: path).text == text)
  }
}
