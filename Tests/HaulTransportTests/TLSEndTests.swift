// SPDX-License-Identifier: Apache-2.0

import HaulTransport
import Testing

/// Where only the end of a TLS connection ends a body. Over sockets: `TLSTests` of the command.
@Suite struct TLSEndTests {
  /// No session of this process has such an address.
  private let session = 3

  @Test("a goodbye is an end, a session without one or without a name is a cut")
  func ends() {
    TLSEnd.saw(session, begin: true)
    #expect(!TLSEnd.OfBody.session(session).isWhole)
    TLSEnd.saw(session, begin: false)
    #expect(TLSEnd.OfBody.session(session).isWhole)
    // The next session at this address has said nothing yet.
    TLSEnd.saw(session, begin: true)
    #expect(!TLSEnd.OfBody.session(session).isWhole)
    #expect(!TLSEnd.OfBody.session(nil).isWhole)
    #expect(TLSEnd.OfBody.told.isWhole)
  }
}
