// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

/// Cases 97 to 100: what is there already, fields that are no text, and another origin.
extension Catalogue {
  static let names: [CatalogueCase] = [
    CatalogueCase("97", "a file of that name", .error(16)) {
      // The promise about the final name: here it has been somebody's before.
      $0.contents = [ReferenceContent(seed: 7, length: 100)]
      $0.prepare = { arena in
        try Files.write(arena.folder.path(of: "f"), length: 100) {
          ReferenceContent(seed: 7, length: 100).fill($0, at: $1)
        }
      }
      $0.keepsTarget = true
      $0.check = { #expect($0.requests.isEmpty && $0.arena.names == ["f"]) }
    },
    CatalogueCase(
      "99a", "fields that are no text in any encoding", .file, [nonsense(status: 103).on(.every)]),
    CatalogueCase("99b", "a name that is no text in any encoding", .file) {
      $0.resource = .reference(seed: 1, length: 0)
      $0.others["/"] = .reference(seed: 1, length: 3, faults: [Fault.rawResponse(rawName).on(.every)])
      $0.url = { $0.origin.url("/") }
      $0.name = "a\u{ff}b"
      $0.contents = [ReferenceContent(seed: 1, length: 3)]
    },
    CatalogueCase("100", "a redirect to another origin", .file) {
      // localhost and 127.0.0.1 are two hosts.
      $0.name = "start"
      $0.url = { $0.origin.url("/start").replacing("127.0.0.1", with: "me:hunter2@localhost") }
      $0.prepare = { $0.origin.put(.redirect(to: $0.origin.url("/f")), at: "/start") }
      $0.arguments += ["-H", "Cookie: a=b"]
      $0.check = expectSecretsOnly
    },
  ]

  /// What belongs to `/start` has been sent there and not to `/f`.
  @Sendable private static func expectSecretsOnly(run: CatalogueRun) {
    let secrets = ["X-Secret", "Cookie", "Authorization"]
    for request in run.requests {
      for name in secrets {
        #expect((request.fields[name] != nil) == (request.target == "/start"), "\(name)")
      }
    }
    #expect(run.requests.contains { $0.target == "/f" })
  }

  private static let noText: [UInt8] = [0xff, 0xfe, 0x80, 0xc0, 0xaf, 0xed, 0xa0, 0x80]

  private static func nonsense(status: Int) -> Fault {
    .preamble(
      Array("HTTP/1.1 \(status) ".utf8) + noText + Array("\r\nX-Text: ".utf8) + noText
        + Array("\r\n\r\n".utf8))
  }

  private static let rawName: [UInt8] =
    Array("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Disposition: attachment; filename=\"a".utf8) + [
      0xff, 0x1b,
    ]
    + Array("b\"\r\n\r\n".utf8) + ReferenceContent(seed: 1, length: 3).bytes(in: 0..<3)
}
