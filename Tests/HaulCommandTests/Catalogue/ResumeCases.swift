// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

private let MiB = 1 << 20
private let length = CatalogueCase.length

/// Case 119 for a second run: what a server does to somebody who has a part of the file already.
extension Catalogue {
  static let resumes: [CatalogueCase] =
    [
      again("good", "parts as before", .file, []) {
        // What is there is not asked for again.
        $0.check = { run in #expect(run.bytesSent < length - 2 * MiB) }
      },
      again("whole", "200 with the same ETag", .file, [Fault.ignoreRange.on(.every)]),
      again("stream", "200 in chunks with the same ETag", .file, streamed()),
      again(
        "cut", "200 that is cut once more", .file,
        [
          Fault.ignoreRange.on(.every), Fault.closeAfter(MiB).on(.nth(1)),
        ]),
      again("weak", "a weak ETag", .file, []) { $0.resource.etag = "W/\"1\"" },
      again("unmarked", "no validator", .file, []) {
        $0.resource.etag = nil
        $0.resource.lastModified = nil
      },
      again("dated", "a date alone", .file, []) {
        $0.resource.etag = nil
        $0.check = { run in #expect(run.bytesSent < length - 2 * MiB) }
      },
      again("lost-tag", "the ETag has gone", .either, [Fault.missingETag.on(.every)]),
      again("gone", "404", .error(11), [Fault.status(404).on(.every)], kept),
      again("forbidden", "403", .error(11), [Fault.status(403).on(.every)], kept),
      again("busy", "503", .error(10, 11), [Fault.status(503).on(.every)], kept),
      again("zipped", "gzip", .error(17), [Fault.contentEncodingGzip.on(.every)], kept),
      again("silent", "nothing", .error(10, 17), [Fault.rawResponse([]).on(.every)], kept),
      again("unframed", "HTTP/1.0 without a length", .error(17), [Fault.http10.on(.every)], kept),
      again("capped", "parts of 64 KiB", .file, [Fault.shortRange(64 << 10).on(.every)]),
      again("shifted", "other parts than asked for", .either, [Fault.shiftedContentRange(by: 7).on(.every)]),
      again(
        "longer", "the file has grown", .either,
        [
          Fault.instead(.reference(seed: 1, length: length + 1000)).on(.every)
        ]
      ) {
        $0.contents = [ReferenceContent(seed: 1, length: length + 1000)]
      },
      again(
        "empty", "the file is empty now", .either, [Fault.instead(.reference(seed: 1, length: 0)).on(.every)]
      ) {
        $0.contents.append(ReferenceContent(seed: 1, length: 0))
      },
      again("moved", "a redirect to the same file", .either, [Fault.redirect(to: "/g").on(.every)]) {
        $0.others["/g"] = $0.resource
        $0.others["/g"]?.faults = []
      },
      again("other", "another file under the same name, length and date", .either, []) {
        $0.contents.append(ReferenceContent(seed: 2, length: length))
        $0.prepare = { arena in
          try CatalogueCase.cutRun(arena)
          arena.origin.put(.reference(seed: 2, length: length), at: "/f")
        }
      },
      again("digest", "wrong bytes, and a digest", .error(13), wrong(.every)) {
        $0.arguments += ["--sha256", digest]
      },
    ]

  /// What a failed run must not throw away.
  private static func kept(_ subject: inout CatalogueCase) {
    subject.arguments = ["-c", "4", "--retries", "1"]
    subject.check = { run in #expect(run.arena.names == ["f.haul", "f.haul-part"]) }
  }

  private static func again(
    _ id: String, _ title: String, _ expected: CatalogueCase.Outcome, _ faults: [FaultRule],
    _ configure: (inout CatalogueCase) -> Void = { _ in }
  ) -> CatalogueCase {
    CatalogueCase("119-again-" + id, "a resume: " + title, expected, faults) {
      $0.prepare = CatalogueCase.cutRun
      configure(&$0)
    }
  }
}
