// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

private let MiB = 1 << 20
private let length = CatalogueCase.length

/// Cases 32 to 43: whether two answers are about one file, and digests.
extension Catalogue {
  static let validators: [CatalogueCase] = changes + tags + conditions + digests

  /// The same length and another content, ETag and date.
  static func changed(seed: UInt64 = 2) -> OriginResource {
    var resource = OriginResource.reference(seed: seed, length: length)
    resource.lastModified = "Wed, 03 Jan 2024 03:04:\(10 + seed % 50) GMT"
    return resource
  }

  private static let changes: [CatalogueCase] = [
    CatalogueCase(
      "32a", "another file from the third request on", .file, [Fault.instead(changed()).on(.sinceNth(3))]
    ) {
      $0.contents = [ReferenceContent(seed: 2, length: length)]
    },
    CatalogueCase(
      "32b", "another file, and no restart wanted", .error(12), [Fault.instead(changed()).on(.sinceNth(3))]
    ) {
      $0.arguments += ["--no-restart"]
    },
    CatalogueCase(
      "32c", "another file with every request", .error(12),
      (2...400).map { Fault.instead(changed(seed: UInt64($0))).on(.nth($0)) }),
    CatalogueCase("32d", "another file since the first run", .file) {
      $0.contents = [ReferenceContent(seed: 2, length: length)]
      $0.prepare = { arena in
        try CatalogueCase.cutRun(arena)
        arena.origin.put(changed(), at: "/f")
      }
    },
    CatalogueCase("32e", "another file while the first part arrives", .file) {
      $0.resource = $0.resource.gated(at: MiB)
      $0.contents = [ReferenceContent(seed: 2, length: length)]
      $0.during = { arena in
        _ = arena.waitUntilHeld(2)
        arena.origin.put(changed(), at: "/f")
        arena.origin.openGate("gate")
      }
      $0.arguments = ["-c", "2"]
    },
  ]

  private static let tags: [CatalogueCase] = [
    CatalogueCase(
      "33", "the ETag is gone from the third request on", .either, [Fault.missingETag.on(.sinceNth(3))]),
    CatalogueCase("34", "a weak ETag", .file, [Fault.changedETag("W/\"1\"").on(.every)]) {
      $0.check = { run in #expect(!run.wereSent("If-Match") && !run.wereSent("If-Range")) }
    },
    CatalogueCase("35", "Last-Modified that is the Date", .file) {
      let date = "Tue, 02 Jan 2024 03:04:05 GMT"
      $0.resource.etag = nil
      $0.resource.faults = [Fault.header("Date", date).on(.every)]
      $0.check = { run in #expect(!run.wereSent("If-Unmodified-Since") && !run.wereSent("If-Range")) }
    },
    CatalogueCase(
      "38", "an ETag for each of two backends", .file, [Fault.changedETag("\"b\"").on(.everyNth(2))]
    ),
    CatalogueCase("39", "an ETag for each answer", .file, [Fault.freshETag.on(.every)]),
  ]

  private static let conditions: [CatalogueCase] = [
    CatalogueCase(
      "36", "412 to every condition", .file,
      [
        Fault.status(412).on(.withHeader("If-Match")),
        Fault.status(412).on(.withHeader("If-Unmodified-Since")),
      ]),
    CatalogueCase(
      "36b", "412 to every condition, and only a date", .file,
      [
        Fault.status(412).on(.withHeader("If-Match")),
        Fault.status(412).on(.withHeader("If-Unmodified-Since")),
      ]
    ) {
      $0.resource.etag = nil
    },
    CatalogueCase(
      "37", "200 to every condition", .file,
      [Fault.ignoreRange.on(.withHeader("If-Match")), Fault.ignoreRange.on(.withHeader("If-Range"))]),
  ]

  private static let digests: [CatalogueCase] = [
    CatalogueCase("40a", "no validator, and a digest", .file, unmarked) {
      $0.arguments += ["--sha256", digest]
    },
    CatalogueCase("40b", "no validator, wrong bytes, and a digest", .error(13), unmarked + wrong(.every)) {
      $0.arguments += ["--sha256", digest]
      $0.check = { #expect($0.arena.names.contains("f.haul-part")) }
    },
    CatalogueCase("40c", "no validator and no digest", .file, unmarked),
    CatalogueCase("41a", "right fields, wrong bytes, and a digest", .error(13), wrong(.every)) {
      $0.arguments += ["--sha256", digest]
    },
    CatalogueCase(
      "41b", "right fields, once wrong bytes, and a digest", .file, wrong(.rangeContains(5 * MiB), times: 1)
    ) {
      $0.arguments += ["--sha256", digest]
      $0.check = { #expect($0.ended.output.contains("verified")) }
    },
    CatalogueCase("41c", "right fields, wrong bytes, and nothing to tell", .unverified, wrong(.every)),
    CatalogueCase("42", "one part with a Content-Digest that is not its own", .file) {
      let part = RequestMatch.all([.rangeStartsFrom(1), .rangeContains(length - 1)])
      $0.resource.faults =
        wrong(part, times: 1, at: length - 1)
        + [Fault.header("Content-Digest", "sha-256=:\(zeros):").on(part, times: 1)]
      $0.arguments += ["--checksum", "auto"]
      // Only that part again.
      $0.check = { run in
        let last = run.requests.filter { $0.range?.resolved(length: length)?.contains(length - 1) == true }
        #expect(last.count >= 2 && run.bytesSent < length + 6 * MiB)
      }
    },
    CatalogueCase(
      "43a", "a Repr-Digest for each part, under one strong ETag", .file,
      (1...100).map {
        Fault.header("Repr-Digest", "sha-256=:\(1000 + $0)\(zeros.dropFirst(4)):").on(.nth($0))
      },
      expectNoDigest),
    CatalogueCase("43b", "another Repr-Digest from the third answer on, under a weak ETag", .either) {
      $0.resource.faults = [
        Fault.changedETag("W/\"1\"").on(.every), Fault.header("Repr-Digest", "sha-256=:\(zeros):").on(.every),
        Fault.header("Repr-Digest", "sha-256=:\(zeros.dropLast(2))E=:").on(.sinceNth(3)),
      ]
    },
    CatalogueCase("43c", "a composite digest of a multipart upload", .file) {
      $0.resource.extraHeaders = [HeaderField("x-amz-checksum-sha256", zeros + "-5")]
      expectNoDigest(&$0)
    },
    CatalogueCase("43d", "a composite digest that does not look so", .file) {
      $0.resource.extraHeaders = [
        HeaderField("x-amz-checksum-sha256", zeros), HeaderField("x-amz-checksum-type", "COMPOSITE"),
      ]
      expectNoDigest(&$0)
    },
    CatalogueCase("43e", "two fields that contradict each other", .file) {
      $0.resource.extraHeaders = [
        HeaderField("Repr-Digest", "sha-256=:\(zeros):"), HeaderField("X-Linked-Etag", digest),
      ]
      expectNoDigest(&$0)
    },
    CatalogueCase("43f", "sums that are not computed", .file) {
      $0.resource.extraHeaders = [HeaderField("x-goog-hash", "crc32c=AAAAAA==")]
      expectNoDigest(&$0)
    },
    CatalogueCase("43g", "one digest in every answer, and it is not the file's", .error(13)) {
      $0.resource.extraHeaders = [HeaderField("Repr-Digest", "sha-256=:\(zeros):")]
      $0.arguments += ["--checksum", "auto"]
      $0.check = { #expect($0.ended.errors.contains("--checksum none"), "\($0.ended.errors)") }
    },
  ]

  /// What is declared counts for nothing, and that is said.
  @Sendable private static func expectNoDigest(_ subject: inout CatalogueCase) {
    subject.arguments += ["--checksum", "auto"]
    subject.check = { run in
      #expect(run.ended.output.hasSuffix(" computed\n"), "\(run.ended.output)")
      #expect(run.ended.errors.contains("found nothing to compare with"), "\(run.ended.errors)")
    }
  }

  /// 32 bytes of zeros in base64.
  static let zeros = String(repeating: "A", count: 43) + "="

  static let unmarked = [Fault.missingETag.on(.every), Fault.missingLastModified.on(.every)]

  /// Ten wrong bytes behind the first request.
  static func wrong(_ match: RequestMatch, times: Int? = nil, at offset: Int = 5 * MiB) -> [FaultRule] {
    [Fault.wrongBytes(offset..<offset + 10).on(match, times: times)]
  }
}
