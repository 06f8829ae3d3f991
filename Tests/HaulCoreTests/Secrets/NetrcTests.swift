// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

@Suite("Netrc")
struct NetrcTests {
  @Test(
    "the first entry of a host counts, in whatever way the file is laid out",
    arguments: [
      ("machine h login a password b", "a:b"),
      ("machine h\n\tlogin a\n\tpassword b\n", "a:b"),
      ("machine H login a password b", "a:b"),
      ("machine other login x password y\nmachine h login a password b", "a:b"),
      ("machine h login a password b machine h login c password d", "a:b"),
      ("machine h password b login a", "a:b"),
      ("machine h login a", "a:"),
      ("machine h account z login a password b", "a:b"),
      ("machine h login a password \"b \\\" \\\\ c\"", "a:b \" \\ c"),
      ("machine h login a password #b", "a:#b"),
      ("# machine h login x password y\nmachine h # why\n login a password b", "a:b"),
      ("machine h login a password b\nmacdef init\nmachine h login x\n\nmachine g login y", "a:b"),
      ("macdef init\nmachine h login x password y\n\nmachine h login a password b", "a:b"),
      ("machine h login a password default", "a:default"),
      ("machine h login a password machine", "a:machine"),
      // Nothing for this host.
      ("default login x password y", nil),
      ("machine h\ndefault login x password y", nil),
      ("machine g login x password y default login z password z", nil),
      ("machine h password b", nil),
      ("machine hh login a password b", nil),
      ("machine", nil), ("machine h login", nil), ("login a password b", nil), ("", nil),
      ("machine h login a password \"open", "a:open"),
    ] as [(String, String?)])
  func entries(_ text: String, _ expected: String?) {
    let found = Netrc(text).credentials(host: "h")
    #expect(found.map { "\($0.user):\($0.password)" } == expected)
  }

  @Test("a user who is named picks among the entries of the host")
  func user() {
    let netrc = Netrc(
      "machine h login a password 1 machine h login b password 2 machine g login c password 3")
    #expect(netrc.credentials(host: "h", user: "b") == Credentials(user: "b", password: "2"))
    #expect(netrc.credentials(host: "h", user: "c") == nil)
  }

  @Test("an IPv6 address has its brackets or not")
  func addresses() {
    #expect(Netrc("machine ::1 login a password b").credentials(host: "[::1]") != nil)
    #expect(Netrc("machine [::1] login a password b").credentials(host: "[::1]") != nil)
    #expect(Netrc("machine [::1] login a password b").credentials(host: "[::2]") == nil)
  }
}
