// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

private let MiB = 1 << 20
private let length = CatalogueCase.length

/// The 46 quirks in the order of their table.
extension Quirk {
  static let all: [Quirk] = compression + caches + links + hosts

  /// What a server does to those who take gzip. Haul must not be one of them.
  private static let forGzip = RequestMatch.custom { $0.fields["Accept-Encoding"]?.contains("gzip") == true }

  private static func whenZipped(_ id: String, _ title: String, _ faults: Fault...) -> Quirk {
    .own(
      CatalogueCase(id, title, .file, faults.map { $0.on(forGzip) }) {
        $0.check = { run in #expect(run.requests.allSatisfy { $0.fields["Accept-Encoding"] == "identity" }) }
      })
  }

  private static let compression: [Quirk] = [
    .like(1, "3"),
    whenZipped(
      "q2", "CloudFront: 200, compressed, to those who take gzip", .ignoreRange, .contentEncodingGzip),
    whenZipped(
      "q3", "nginx: weak tag and no length to those who take gzip", .ignoreRange, .changedETag("W/\"1\""),
      .chunked),
    whenZipped("q4", "GitHub Pages: no length to those who take gzip", .ignoreRange, .chunked),
    .own(
      CatalogueCase(
        "q5", "GCS: unzipped on the way, with the sum of what is stored", .file, Catalogue.streamed()
      ) {
        $0.resource.extraHeaders = [
          HeaderField("x-goog-hash", "crc32c=AAAAAA==,md5=AAAAAAAAAAAAAAAAAAAAAA==")
        ]
      }),
    .own(
      CatalogueCase(
        "q6", "Cloudflare: 200 without a length at first, parts without Accept-Ranges later", .file
      ) {
        $0.resource.faults = [
          Fault.ignoreRange.on(.nth(1)), Fault.chunked.on(.nth(1)),
          Fault.header("Accept-Ranges", nil).on(.every),
        ]
      }),
    .own(
      CatalogueCase("q7", "Varnish: 200 to an open range, totals that come and go", .file) {
        $0.resource.faults = [
          Fault.ignoreRange.on(.custom { $0.fields["Range"]?.hasSuffix("-") == true }),
          Fault.wrongTotal(nil).on(.everyNth(2)),
        ]
        $0.check = { run in #expect(run.count(status: 200) == 0) }
      }),
  ]

  private static let caches: [Quirk] = [
    .like(8, "14a", "14b", "14c"),
    .own(
      CatalogueCase(
        "q9", "nginx slices: short, then cut", .file, [Fault.closeAfter(MiB + 5).on(.everyNth(2))])),
    .own(
      CatalogueCase(
        "q10", "a cache that mixes two versions", .either,
        [Fault.instead(Catalogue.changed()).on(.everyNth(3))]
      ) {
        $0.contents.append(ReferenceContent(seed: 2, length: length))
      }),
    .own(
      CatalogueCase("q11", "ATS: 416 to a good resume, then 200", .file) {
        $0.resource.faults = [Fault.status(416).on(.nth(1)), Fault.ignoreRange.on(.nth(2))]
        $0.prepare = CatalogueCase.cutRun
      }),
    .own(
      CatalogueCase(
        "q12", "Chromium: a part that fails under way and ends as if whole", .file,
        [Fault.chunked.on(.nth(2)), Fault.closeAfter(100_000).on(.nth(2))])),
    .own(
      CatalogueCase(
        "q13", "a cached part called the whole", .either, [Fault.partAsWhole.on(.every)]
      ) {
        $0.arguments += ["--sha256", Catalogue.digest]
      }),
    .own(
      CatalogueCase(
        "q13b", "a cached part called the whole from the second request on", .either,
        [Fault.partAsWhole.on(.sinceNth(2))])),
    .own(
      CatalogueCase(
        "q13c", "a cached part called the whole, and no digest", .either, [Fault.partAsWhole.on(.every)]
      )),
    .like(14, "8"), .like(15, "6", "7"), .like(16, "9a", "10", "15c"), .like(17, "12"),
    .own(
      CatalogueCase(
        "q18", "a total that is the last byte's number", .file,
        [
          Fault.contentRange { range, _ in
            ["bytes \(range.lowerBound)-\(range.upperBound - 1)/\(range.upperBound - 1)"]
          }.on(.every)
        ])),
    .like(19, "28a", "28c"), .like(20, "11"), .like(21, "9a", "14a", "17a", "18a"), .like(22, "37"),
    .own(
      CatalogueCase("q23", "Cherokee: conditions ignored, 206 of a new file", .file) {
        $0.resource.faults = [
          Fault.instead(Catalogue.changed()).on(.sinceNth(3)), Fault.ignoreConditions.on(.every),
        ]
        $0.contents = [ReferenceContent(seed: 2, length: length)]
      }),
  ]

  private static let links: [Quirk] = [
    .own(
      CatalogueCase("q24", "Ceph: parts by number have tags of their own", .file) {
        $0.check = { run in #expect(run.requests.allSatisfy { $0.target == "/f" }) }
      }),
    .own(
      CatalogueCase(
        "q25", "presigned: 403 to HEAD", .file, [Fault.status(403).on(.custom { $0.method == "HEAD" })])),
    .like(26, "54"), .like(27, "54"), .like(28, "31a"),
    .own(
      CatalogueCase("q29", "Hugging Face: identity on the redirect, none on the body", .file) {
        $0.resource = .redirect(to: "/blob")
        $0.resource.extraHeaders = [
          HeaderField("X-Linked-Etag", "\"\(Catalogue.digest)\""), HeaderField("X-Linked-Size", "\(length)"),
        ]
        $0.others["/blob"] = .reference(seed: 1, length: length, faults: Catalogue.unmarked)
      }),
    .like(30, "46"),
    .own(
      CatalogueCase("q31", "Google Drive: a page that says the quota is used up", .error(11)) {
        $0.resource = Catalogue.loginPage
        $0.resource.faults = [
          Fault.status(403).on(.every), Fault.header("Content-Type", "text/html").on(.every),
        ]
      }),
    .own(
      CatalogueCase("q32", "Azure: new tag and date under way, the same bytes", .file) {
        $0.resource.faults = [
          Fault.changedETag("\"0x2\"").on(.sinceNth(3)),
          Fault.header("Last-Modified", "Wed, 03 Jan 2024 03:04:05 GMT").on(.sinceNth(3)),
        ]
      }),
    .like(33, "38"), .like(34, "39"),
    .own(
      CatalogueCase("q35", "Python: no ranges, a date alone", .file) {
        $0.resource.etag = nil
        $0.resource.supportsRanges = false
      }),
    .own(
      CatalogueCase(
        "q36", "secureblue: the whole file as a part, to every range", .file,
        [Fault.widerRange(before: .max, after: .max).on(.every)]
      )),
  ]

  private static let hosts: [Quirk] = [
    .like(37, "41a", "41b", "41c"), .like(38, "48"),
    .own(
      CatalogueCase(
        "q39", "nginx: slow after the first bytes of each request", .file,
        [Fault.slow(bytesPerSecond: 2 * MiB, after: 500_000).on(.every)])),
    .like(40, "49"), .like(41, "55a", "55b"), .like(42, "29a"),
    .like(43, "41a"), .like(44, "30a", "30b", "30c", "30d"),
    Quirk(number: 45, shown: .elsewhere("HTTP/2 is off: every request is HTTP/1.1, as the TLS tests show")),
    .own(
      CatalogueCase("q46", "404 to those who ask without Range", .file, [Fault.status(404).on(.withoutRange)])
    ),
  ]
}
