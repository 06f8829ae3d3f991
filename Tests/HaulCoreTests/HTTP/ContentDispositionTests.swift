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
      // The examples of RFC 6266 section 5 and RFC 8187 section 3.2.
      ("Attachment; filename=example.html", "example.html"),
      ("INLINE; FILENAME= \"an example.html\"", "an example.html"),
      ("attachment; filename*= UTF-8''%e2%82%ac%20rates", "\u{20AC} rates"),
      ("attachment; filename=\"EURO rates\"; filename*=utf-8''%e2%82%ac%20rates", "\u{20AC} rates"),
      ("attachment; filename*=iso-8859-1'en'%A3%20rates", "\u{A3} rates"),
      ("attachment; filename*=UTF-8''%c2%a3%20and%20%e2%82%ac%20rates", "\u{A3} and \u{20AC} rates"),
      // Not quite by the book, but seen.
      ("attachment;filename=a.iso;", "a.iso"),
      ("attachment ; filename=\t\"a.iso\"", "a.iso"),
      ("attachment; filename*=\"UTF-8''a%20b\"", "a b"),
      ("attachment; filename=\"a\"b.iso", "a"),
      ("attachment; filename==?utf-8?B?YQ==?=", "=?utf-8?B?YQ==?="),
      ("attachment; filename*0=\"a\"; filename*1=\"b\"", nil),
      ("attachment; x=\"filename=evil\"; filename=good", "good"),
      ("attachment; filename=\"a\\\"; filename=evil; x=\"\"", "a\"; filename=evil; x="),
      ("attachment; filename*=UTF-8''a%00b", "a\u{0}b"),
      ("attachment; filename*=UTF-8''a%0d%0ab", "a\r\nb"),
      ("attachment; filename*=UTF-8''%c0%ae%c0%ae%c0%af; filename=plain", "plain"),
      ("attachment; filename*=UTF-8'x; filename=plain", "plain"),
      ("attachment; filename*=''a; filename=plain", "plain"),
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
