// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

private let MiB = 1 << 20
private let length = CatalogueCase.length

/// Cases 44 to 60: connections that break or crawl, servers that limit, redirects, pages and floods.
extension Catalogue {
  static let network: [CatalogueCase] = cuts + paces + limits + impatience + addresses + redirects + strangers

  private static let cuts: [CatalogueCase] =
    [0, 1, 100, 64 << 10, (1 << 20) - 1, 1 << 20, (4 << 20) - 1].flatMap { count in
      [
        CatalogueCase(
          "44-\(count)", "RST after \(count) bytes, every other time", .file,
          [Fault.resetAfter(count).on(.everyNth(2))]),
        CatalogueCase(
          "44-\(count)a", "RST after \(count) bytes, at first", .file, [Fault.resetAfter(count).on(.nth(1))]),
      ]
    }

  private static let paces: [CatalogueCase] = [
    CatalogueCase("45a", "one connection that falls silent", .file, [Fault.stallAfter(1000).on(.nth(2))]),
    CatalogueCase("45b", "the first connection falls silent", .file, [Fault.stallAfter(1000).on(.nth(1))]),
    CatalogueCase(
      "46", "one connection of 400 bytes a second", .file, [Fault.slow(bytesPerSecond: 400).on(.nth(2))]
    ) {
      // Long for all others, and the smallest part of what this one would take.
      $0.deadline = 30
    },
    CatalogueCase("47", "all connections slow alike", .file) {
      $0.resource.bytesPerSecond = 2 * MiB
      // Nobody is replaced for being slow where all are. (A lease may still be cut short for another one.)
      $0.check = { run in #expect(run.requests.count < 16 && run.bytesSent < length + MiB) }
    },
  ]

  private static let limits: [CatalogueCase] = [
    limited("48", "503 beyond two connections", 2, .status(503)),
    limited("49", "403 beyond four connections", 4, .status(403)),
    limited("49b", "RST beyond two connections", 2, .reset),
    CatalogueCase("50a", "429 and a second to wait", .file, [Fault.status(429, retryAfter: "1").on(.nth(1))])
    {
      $0.check = { run in
        #expect(run.requests.count > 1 && run.requests[1].started - run.requests[0].started > 900_000_000)
      }
    },
    CatalogueCase(
      "50b", "429 until a date that is past", .file,
      [Fault.status(429, retryAfter: "Tue, 02 Jan 2024 03:04:05 GMT").on(.nth(1))]),
    CatalogueCase("50c", "429 and garbage", .file, [Fault.status(429, retryAfter: "soon; -1").on(.nth(1))]),
    limited(
      "50d", "429 and more seconds than there are", 2, .status(429, retryAfter: "99999999999999999999")),
    limited(
      "50e", "429 and a date in the next century", 2,
      .status(429, retryAfter: "Tue, 02 Jan 2124 03:04:05 GMT")),
  ]

  /// The first answer of all asks for a wait without measure: it is bounded and told, and Ctrl-C ends it.
  private static let impatience: [CatalogueCase] = [
    ("50f", "99999999999999999999", "a wait of an hour or more; the next try is in an hour"),
    ("50g", "Tue, 02 Jan 2124 03:04:05 GMT", "a wait of an hour or more; the next try is in an hour"),
    ("50h", "1234", "a wait of 1234 s"),
  ].map { (id: String, value: String, says: String) in
    CatalogueCase(
      id, "429 at first and Retry-After: \(value)", .error(130),
      [Fault.status(429, retryAfter: value).on(.every)]
    ) {
      $0.interruptsAfter = { _, errors in errors.contains(says) }
      $0.check = { run in
        #expect(run.requests.count == 1)
        #expect(run.ended.errors.contains("waiting: the server answered 429"), "\(run.ended.errors)")
        #expect(run.arena.names.isEmpty)
      }
    }
  }

  private static func limited(
    _ id: String, _ title: String, _ count: Int, _ refusal: OriginConfiguration.Refusal
  ) -> CatalogueCase {
    CatalogueCase(id, title, .file) {
      $0.configuration.connectionLimit = .init(count, refusal: refusal)
      // So that none is done before all have asked.
      $0.configuration.bytesPerSecondPerConnection = 4 * MiB
      $0.arguments = ["-c", "8"]
      // What was refused once is not asked for again and again.
      $0.check = { run in
        #expect(run.arena.origin.journal().connectionsRefused > 0)
        #expect(run.arena.origin.journal().connectionsRefused < 24)
      }
    }
  }

  private static let addresses: [CatalogueCase] = [
    CatalogueCase("51a", "a name that nobody knows", .error(10)) {
      $0.url = { _ in "http://haul.invalid/f" }
      $0.arguments = ["--retries", "1", "--connect-timeout", "5"]
    },
    CatalogueCase("51b", "a port where nobody listens", .error(10)) {
      $0.prepare = { $0.origin.stop() }
      $0.arguments = ["--retries", "1"]
      $0.url = { _ in "http://127.0.0.1:1/f" }
    },
    CatalogueCase("51c", "a name of two addresses, at one of which nobody listens", .file) {
      $0.url = { $0.origin.url("/f").replacing("127.0.0.1", with: "localhost") }
    },
  ]

  private static let redirects: [CatalogueCase] = [
    CatalogueCase("54", "a signed URL that expires half way", .file) {
      $0 = expiring($0, status: 403)
      // Once for all connections together.
      $0.check = { run in #expect(run.requests.count { $0.target == "/f" } == 2) }
    },
    CatalogueCase("54b", "a signed URL that is gone half way", .file) {
      $0 = expiring($0, status: 404)
      $0.check = { run in #expect(run.requests.count { $0.target == "/f" } == 2) }
    },
    CatalogueCase("54c", "a signed URL that expires at once, always", .error(11)) {
      $0.resource = .redirect(to: "/signed/f?X-Amz-Expires=300&X-Amz-Signature=1")
      $0.others["/signed/f"] = .reference(seed: 1, length: length, faults: [Fault.status(403).on(.every)])
      $0.check = { run in #expect(run.requests.count < 12) }
    },
    CatalogueCase("55a", "each request sent to another mirror, one of them stale", .file) {
      $0 = mirrored($0)
    },
    CatalogueCase("55b", "a resume that is sent to a stale mirror", .either) {
      $0 = mirrored($0)
      $0.contents.append(ReferenceContent(seed: 2, length: length))
      $0.prepare = { arena in
        arena.origin.update("/fresh/f") {
          $0.faults = [Fault.closeAfter(3 * MiB).on(.nth(1)), Fault.status(500).on(.sinceNth(2))]
        }
        _ = try HaulProcess.run(
          [arena.origin.url("/f"), "-d", arena.folder.path, "-c", "1", "--retries", "0"])
        arena.origin.update("/fresh/f") { $0.faults = [] }
      }
    },
  ]

  private static func expiring(_ subject: CatalogueCase, status: Int) -> CatalogueCase {
    var subject = subject
    let path = "/signed/f?X-Amz-Expires=300&X-Amz-Signature="
    subject.resource = .redirect(to: path + "1")
    subject.resource.faults = [Fault.redirect(to: path + "2").on(.sinceNth(2))]
    subject.others["/signed/f"] = .reference(
      seed: 1, length: length,
      faults: [Fault.status(status).on(.all([.targetContains("Signature=1"), .sinceNth(3)]))])
    return subject
  }

  private static func mirrored(_ subject: CatalogueCase) -> CatalogueCase {
    var subject = subject
    subject.resource = .redirect(to: "/fresh/f")
    subject.resource.faults = [Fault.redirect(to: "/stale/f").on(.everyNth(2))]
    subject.others["/fresh/f"] = .reference(seed: 1, length: length)
    subject.others["/stale/f"] = changed()
    return subject
  }

  private static let strangers: [CatalogueCase] = [
    CatalogueCase("57", "early hints with an ETag of their own", .file, [hints.on(.every)]) {
      $0.check = { run in #expect(!run.requests.contains { $0.fields["If-Match"] == "\"early\"" }) }
    },
    CatalogueCase(
      "59a", "a login page from the second request on", .error(11, 12, 17),
      [Fault.instead(loginPage).on(.sinceNth(2))]),
    CatalogueCase("59b", "a login page once", .file, [Fault.instead(loginPage).on(.nth(2))]),
    CatalogueCase(
      "59c", "a login page to a resume", .error(11, 12, 17), [Fault.instead(loginPage).on(.every)]
    ) {
      $0.prepare = CatalogueCase.cutRun
      $0.check = { #expect($0.arena.names.contains("f.haul-part")) }
    },
    CatalogueCase("59d", "a redirect to a login page from the second request on", .error(11, 12, 17)) {
      $0.resource.faults = [Fault.redirect(to: "/login").on(.sinceNth(2))]
      $0.others["/login"] = loginPage
    },
    stranger("59e", "a login page that does not say what it is") { $0.contentType = "" },
    stranger("59f", "an error in JSON that says 200") { $0.contentType = "application/json" },
    stranger("59g", "a text of the same type") { $0.contentType = "application/octet-stream" },
    stranger("59h", "a login page in parts") { $0.supportsRanges = true },
    stranger("59i", "a login page in chunks") { $0.framing = .chunked },
    stranger("59j", "a login page with a date") { $0.lastModified = "Thu, 04 Jan 2024 03:04:05 GMT" },
    CatalogueCase(
      "60a", "20 000 fields", .error(17), (0..<20_000).map { Fault.addedHeader("X-\($0)", "x").on(.every) }),
    CatalogueCase(
      "60b", "a head without an end", .error(10, 17), [Fault.rawResponse(endlessHead).on(.every)]),
    CatalogueCase("60c", "a Location of 1 MB", .error(17)) {
      $0.resource = .redirect(to: "/" + String(repeating: "x", count: 1_000_000))
    },
    CatalogueCase("60d", "NUL in a field", .error(17), [Fault.header("X-Nul", "a\0b").on(.every)]),
    CatalogueCase(
      "60e", "one field of 1 MB, once", .either,
      [
        Fault.header("X-Large", String(repeating: "x", count: 1_000_000)).on(.nth(2))
      ]
    ),
  ].map { subject in
    var subject = subject
    subject.arguments += ["--retries", "1"]
    return subject
  }

  /// A short answer of somebody else, from the second request on. It must not become the file.
  private static func stranger(
    _ id: String, _ title: String, _ change: (inout OriginResource) -> Void
  ) -> CatalogueCase {
    var page = loginPage
    change(&page)
    return CatalogueCase(id, title, .error(10, 11, 12, 17), [Fault.instead(page).on(.sinceNth(2))])
  }

  private static let hints = Fault.preamble(
    Array("HTTP/1.1 103 Early Hints\r\nETag: \"early\"\r\nContent-Length: 3\r\n\r\n".utf8))

  static let loginPage = OriginResource.page("<html><body>Please log in.</body></html>")

  private static let endlessHead: [UInt8] =
    Array("HTTP/1.1 200 OK\r\n".utf8)
    + Array(repeatElement("X-Flood: 0123456789\r\n".utf8, count: 200_000).joined())
}
