// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

private let MiB = 1 << 20
private let length = CatalogueCase.length

/// Cases 1 to 31: what comes back for a range.
extension Catalogue {
  static let ranges: [CatalogueCase] = answers + liesAboutTheRange + unsatisfied + framing

  private static let answers: [CatalogueCase] = [
    CatalogueCase("1", "a server that does all right", .file) {
      $0.check = { run in
        #expect(run.requests.count > 1 && run.requests.allSatisfy { $0.range != nil && $0.status == 206 })
      }
    },
    CatalogueCase("2", "Accept-Ranges: none", .file, [Fault.header("Accept-Ranges", "none").on(.every)]) {
      $0.resource.supportsRanges = false
      $0.check = { #expect($0.requests.count == 1) }
    },
    CatalogueCase("3", "Accept-Ranges: bytes, and always 200", .file, [Fault.ignoreRange.on(.every)]) {
      $0.check = { run in
        #expect(run.requests.count == 1 && run.bytesSent == length)
      }
    },
    CatalogueCase("4a", "200 to every later part", .file, [Fault.ignoreRange.on(.rangeStartsFrom(1))]),
    CatalogueCase(
      "4b", "200 to one later part", .file, [Fault.ignoreRange.on(.rangeStartsFrom(1), times: 1)]),
    CatalogueCase(
      "5a", "200 in chunks to every later part", .file,
      [Fault.ignoreRange.on(.rangeStartsFrom(1)), Fault.chunked.on(.rangeStartsFrom(1))]
    ),
    CatalogueCase(
      "5b", "200 in chunks to one later part", .file,
      [
        Fault.ignoreRange.on(.rangeStartsFrom(1), times: 1),
        Fault.chunked.on(.rangeStartsFrom(1), times: 1),
      ]),
    CatalogueCase("6", "206 shorter than asked", .file, [Fault.shortRange(1_000_000).on(.everyNth(2))]) {
      $0.arguments = ["-c", "1"]
      // Only what is missing is asked for again.
      $0.check = { #expect($0.bytesSent == length) }
    },
    CatalogueCase("7", "206 capped at 64 KiB", .file, [Fault.shortRange(64 << 10).on(.every)]) {
      $0.check = { run in
        #expect(run.requests.count >= length / (64 << 10) && run.bytesSent < length + MiB)
      }
    },
    CatalogueCase(
      "8", "206 that starts earlier", .file, [Fault.widerRange(before: 5000, after: 0).on(.every)]
    ),
    CatalogueCase(
      "10", "206 that ends later", .file, [Fault.widerRange(before: 0, after: 300_000).on(.every)]),
    CatalogueCase("11", "206 without Content-Range", .file, [Fault.missingContentRange.on(.every)]) {
      $0.check = { #expect($0.requests.contains { $0.range == nil }) }
    },
    CatalogueCase(
      "12", "Content-Range of the form bytes=", .file, [Fault.contentRange(after: "bytes=").on(.every)]
    ) {
      // Said once, however many answers have it.
      $0.check = { run in
        #expect(run.count(status: 206) > 1)
        #expect(run.ended.errors.split(separator: "\n").count { $0.hasPrefix("haul: warning: ") } == 1)
        #expect(run.ended.errors.contains("('bytes=0-"), "\(run.ended.errors)")
      }
    },
    CatalogueCase("13", "a total of * and none from elsewhere", .file, [Fault.wrongTotal(nil).on(.every)]),
    CatalogueCase("13b", "a total of * once it is known", .file, [Fault.wrongTotal(nil).on(.sinceNth(2))]),
    CatalogueCase("19", "multipart/byteranges", .file, [Fault.multipart.on(.every)]),
    CatalogueCase("24", "200 with a Content-Range", .file) {
      $0.resource.faults = [
        Fault.ignoreRange.on(.every), Fault.header("Content-Range", "bytes 0-99/1000").on(.every),
      ]
      $0.check = { #expect($0.requests.count == 1) }
    },
    CatalogueCase(
      "25a", "an encoded 206, always", .error(17), [Fault.contentEncodingGzip.on(.every)]),
    CatalogueCase("25b", "an encoded 206, once", .file, [Fault.contentEncodingGzip.on(.nth(2))]),
  ]

  /// Each of them as the server's way, in every part but the first, and once.
  private static let liesAboutTheRange: [CatalogueCase] =
    ([
      ("9", "206 that starts later", Fault.shiftedContentRange(by: 100)),
      (
        "14", "a last byte before the first",
        .contentRange { ["bytes \($0.upperBound)-\($0.lowerBound)/\($1)"] }
      ),
      (
        "16", "two Content-Range fields",
        .contentRange { ["bytes \($0.lowerBound)-\($0.upperBound - 1)/\($1)", "bytes 0-0/\($1)"] }
      ),
      ("17", "another unit", .contentRange(after: "items ")),
      (
        "18", "numbers that do not fit",
        .contentRanges("bytes 0-99999999999999999999998/99999999999999999999999")
      ),
    ] as [(String, String, Fault)]).flatMap { id, title, fault in
      [
        CatalogueCase(id + "a", title + ", always", .file, [fault.on(.every)]),
        CatalogueCase(id + "b", title + ", later", .file, [fault.on(.rangeStartsFrom(1))]),
        CatalogueCase(id + "c", title + ", once", .file, [fault.on(.nth(2))]),
      ]
    }

  private static let unsatisfied: [CatalogueCase] =
    [
      CatalogueCase(
        "15a", "the total and the file change between parts", .file,
        [Fault.instead(.reference(seed: 2, length: length + 5)).on(.sinceNth(3))]
      ) {
        $0.contents = [ReferenceContent(seed: 2, length: length + 5)]
      },
      CatalogueCase("15b", "a total that makes no sense, once", .file, [Fault.wrongTotal(7).on(.nth(2))]),
      CatalogueCase(
        "15c", "a total that only one answer tells", .file, [Fault.wrongTotal(length + 9).on(.nth(2))]
      ),
      CatalogueCase(
        "20", "416 that tells the right length, once", .file, refusal("bytes */\(length)", .nth(3))),
      CatalogueCase(
        "21", "416 because the file has become shorter", .file,
        [Fault.instead(.reference(seed: 2, length: MiB)).on(.sinceNth(2))]
      ) {
        $0.contents = [ReferenceContent(seed: 2, length: MiB)]
      },
      CatalogueCase("22", "416 of an empty file", .file) {
        $0.resource = .reference(seed: 1, length: 0)
        $0.contents = [ReferenceContent(seed: 1, length: 0)]
        $0.check = { #expect($0.count(status: 416) > 0) }
      },
      CatalogueCase(
        "23", "416 to every range, and it does not say why", .file, [Fault.status(416).on(.withRange)]
      ) {
        $0.check = { run in #expect(run.requests.count { $0.range == nil } == 1) }
      },
      CatalogueCase("23b", "416 without a length to a resume", .file, [Fault.status(416).on(.withRange)]) {
        $0.prepare = CatalogueCase.cutRun
      },
      CatalogueCase("26", "an empty 200", .file) {
        $0.resource = .reference(seed: 1, length: 0)
        $0.resource.supportsRanges = false
        $0.contents = [ReferenceContent(seed: 1, length: 0)]
      },
    ] + sizes

  /// Lengths around one byte, a chunk and a first request. Those from 2 GiB on: see GreatLengthTests
  /// and SparseFileTests.
  private static let sizes: [CatalogueCase] = [1, MiB - 1, MiB, MiB + 1, 4 * MiB - 1, 4 * MiB, 4 * MiB + 1]
    .map { size in
      CatalogueCase("27-\(size)", "\(size) bytes", .file) {
        $0.resource = .reference(seed: 1, length: size)
        $0.contents = [ReferenceContent(seed: 1, length: size)]
      }
    }

  private static let framing: [CatalogueCase] = [
    CatalogueCase(
      "28a", "Content-Length one too small for the range", .file,
      [Fault.wrongContentLength(by: -1).on(.withRange)]),
    CatalogueCase(
      "28b", "Content-Length one too large for the range", .file,
      [Fault.wrongContentLength(by: 1).on(.withRange)]),
    CatalogueCase(
      "28c", "Content-Length one too small in one later part", .file,
      [Fault.wrongContentLength(by: -1).on(.nth(2))]),
    CatalogueCase(
      "28d", "Content-Length one too large, always", .error(10, 17),
      [Fault.wrongContentLength(by: 1).on(.every)]),
    CatalogueCase("29a", "Content-Length beside chunks", .either) {
      $0.resource.faults = [Fault.chunked.on(.every), Fault.addedHeader("Content-Length", "5").on(.every)]
    },
    CatalogueCase(
      "29b", "two lengths", .error(17), [Fault.contentLength { ["\($0)", "\($0 + 1)"] }.on(.every)]),
    CatalogueCase("29c", "a negative length", .error(17), [Fault.contentLengths("-5").on(.every)]),
    CatalogueCase(
      "29d", "a length beyond 64 bits", .error(17), [Fault.contentLengths("99999999999999999999").on(.every)]),
    CatalogueCase("29e", "a length that is no number", .error(17), [Fault.contentLengths("5x").on(.every)]),
    CatalogueCase(
      "30a", "HTTP/1.0, cut", .error(17), [Fault.http10.on(.every), Fault.closeAfter(2 * MiB).on(.every)]),
    CatalogueCase("30b", "HTTP/1.0, whole, which nobody can know", .error(17), [Fault.http10.on(.every)]),
    CatalogueCase("30c", "HTTP/1.0, whole, and a digest says so", .file, [Fault.http10.on(.every)]) {
      $0.arguments += ["--sha256", digest]
    },
    CatalogueCase(
      "30d", "HTTP/1.0, cut, and a digest says so", .error(10, 13, 17),
      [Fault.http10.on(.every), Fault.closeAfter(2 * MiB).on(.every)]
    ) {
      $0.arguments += ["--sha256", digest]
    },
    CatalogueCase("31a", "chunks to their end", .file, streamed()),
    CatalogueCase(
      "31b", "chunks that stop once before their end", .file, streamed(.closeAfter(2 * MiB), .nth(1))),
    CatalogueCase(
      "31c", "chunks that always stop before their end", .error(10, 17),
      streamed(.closeAfter(2 * MiB), .every)),
    CatalogueCase(
      "31d", "all chunks but the last, empty one", .error(10, 17), streamed(.closeAfter(length), .every)),
  ]

  /// Of the file that most cases are about.
  static let digest = "6828f7bb3e55e359cfcc91368cf6d5d3f079035109c1f8edcbe640dff39dfa8a"

  /// 416 with this Content-Range, once.
  private static func refusal(_ contentRange: String, _ match: RequestMatch) -> [FaultRule] {
    [Fault.status(416).on(match), Fault.header("Content-Range", contentRange).on(match)]
  }

  /// No ranges and no length, with one more fault.
  static func streamed(_ fault: Fault? = nil, _ match: RequestMatch = .every) -> [FaultRule] {
    [Fault.ignoreRange.on(.every), Fault.chunked.on(.every)] + (fault.map { [$0.on(match)] } ?? [])
  }
}
