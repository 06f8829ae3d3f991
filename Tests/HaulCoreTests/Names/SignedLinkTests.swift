// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

@Suite("SignedLink")
struct SignedLinkTests {
  @Test(
    "links that run out",
    arguments: [
      "https://x/f?X-Amz-Expires=300&X-Amz-Signature=ab", "https://x/f?a=b&Signature=c", "https://x/f?sig=a",
      "https://x/f?sv=1&se=2", "http://x/?Expires=1#fragment",
    ])
  func signed(_ url: String) { #expect(SignedLink.isSigned(url)) }

  @Test(
    "others",
    arguments: [
      "https://x/f", "https://x/f?", "https://x/sig=1", "https://x/f?assign=1", "https://x/f#?sig=1", "",
    ])
  func unsigned(_ url: String) { #expect(!SignedLink.isSigned(url)) }
}
