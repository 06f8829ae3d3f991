// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

@Suite("ContentDisposition")
struct ContentDispositionTests {
  @Test(
    "the suggested name",
    arguments: [
      ("attachment; filename=a.iso", "a.iso"),
      ("attachment; filename=\"a b.iso\"", "a b.iso"),
      ("ATTACHMENT;FILENAME=\"a;b=c.iso\" ; x=y", "a;b=c.iso"),
      ("inline; filename = \"a\\\"b\\\\c\"", "a\"b\\c"),
      ("filename=a.iso", "a.iso"),
      ("attachment; filename=a b.iso; x=y", "a b.iso"),
      ("attachment; filename=\"open", "open"),
      ("attachment; filename=a; filename=b", "a"),
      ("attachment; filename=plain; filename*=UTF-8''%e2%82%ac.iso", "\u{20AC}.iso"),
      ("attachment; filename*=utf-8'en'%E2%82%AC%20rates; filename=plain", "\u{20AC} rates"),
      ("attachment; filename*=ISO-8859-1''caf%E9", "caf\u{E9}"),
      // Decoded once, not twice.
      ("attachment; filename*=UTF-8''a%252Fb", "a%2Fb"),
      ("attachment; filename=\"a%2Fb\"", "a%2Fb"),
      // What cannot be decoded leaves the plain name.
      ("attachment; filename*=UTF-8''%ff; filename=plain", "plain"),
      ("attachment; filename*=UTF-8''%zz; filename=plain", "plain"),
      ("attachment; filename*=UTF-8''%e; filename=plain", "plain"),
      ("attachment; filename*=KOI8-R''x; filename=plain", "plain"),
      ("attachment; filename*=x; filename=plain", "plain"),
      ("attachment; filename*=UTF-8''; filename=plain", "plain"),
      ("attachment; filename*=UTF-8''%ff", nil),
      ("attachment; filename=\"\"", nil),
      ("attachment; filename", nil),
      ("attachment; xfilename=a", nil),
      ("attachment", nil),
      ("", nil),
      // Raw: what is dangerous is told as it is, and sanitised elsewhere.
      ("attachment; filename=\"../../.bashrc\"", "../../.bashrc"),
      ("attachment; filename*=UTF-8''..%2Fx", "../x"),
    ] as [(String, String?)])
  func names(_ text: String, _ expected: String?) {
    #expect(ContentDisposition.fileName(text) == expected)
  }
}
