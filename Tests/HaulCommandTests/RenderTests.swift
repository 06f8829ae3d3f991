// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Haul
@testable import HaulCommand

/// What is drawn and said, as values.
struct RenderTests {
  @Test(
    "sizes have three digits or a little more",
    arguments: [
      (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (9_949, "9.9 kB"), (99_949, "99.9 kB"),
      (99_950, "100 kB"),
      (999_499, "999 kB"), (999_500, "1.0 MB"), (12_345_678, "12.3 MB"), (1_050_000_000, "1.05 GB"),
      (1_234_000_000_000, "1.23 TB"), (Int.max, "9.22 EB"),
    ])
  func bytes(count: Int, text: String) { #expect(Quantities.bytes(count) == text) }

  @Test(
    "times read as clocks do",
    arguments: [
      (0, "0:00"), (0.2, "0:01"), (59.5, "1:00"), (754, "12:34"), (11_045, "3:04:05"), (183_600, "2 d 3 h"),
      (1e9, "—"), (.infinity, "—"), (.nan, "—"), (-5, "0:00"),
    ] as [(Double, String)])
  func duration(seconds: Double, text: String) { #expect(Quantities.duration(seconds) == text) }

  @Test(
    "what something took",
    arguments: [(0.4167, "0.42 s"), (12.34, "12.3 s"), (250, "4 min 10 s"), (7500, "2 h 5 min")]
      as [(Double, String)])
  func elapsed(seconds: Double, text: String) { #expect(Quantities.elapsed(seconds) == text) }

  @Test("a rate is of the last two seconds, and a start over forgets it")
  func rate() {
    var window = RateWindow()
    #expect(window.rate == nil)
    for tick in 0...100 { window.add(received: tick * (tick < 50 ? 0 : 100), now: Double(tick) / 10) }
    #expect(abs((window.rate ?? 0) - 1000) < 100)
    window.add(received: 5, now: 10.1)
    #expect(window.rate == nil)
  }

  @Test("the live line fits every width, whatever it shows", arguments: [8, 16, 24, 40, 60, 80, 132, 400])
  func fits(columns: Int) {
    let names = ["f", "a-very-long-name-of-a-file-with-many-words-in-it.tar.gz", "evil\u{1b}[2J", nil]
    for name in names {
      for (received, total) in [(0, nil), (0, 0), (5, 10), (10, 10), (123_456_789_012, 999_999_999_999)]
        as [(Int, Int?)]
      {
        for phase in [DownloadProgress.Phase.starting, .fetching, .finishing, .ended] {
          for usesBlocks in [true, false] {
            var progress = DownloadProgress()
            (progress.name, progress.received, progress.total, progress.phase) = (
              name, received, total, phase
            )
            progress.connections = 16
            let line = ProgressLine(
              progress: progress, rate: 1_234_567, columns: columns, usesBlocks: usesBlocks)
            #expect(line.text.count < columns, "\(line.text)")
            #expect(!line.text.unicodeScalars.contains { $0.value < 0x20 })
          }
        }
      }
    }
  }

  @Test("the live line shows the name, a bar, and the numbers")
  func line() {
    var progress = DownloadProgress()
    (progress.name, progress.received, progress.total, progress.phase) = (
      "f.iso", 500_000_000, 1_000_000_000, .fetching
    )
    progress.connections = 4
    let line = ProgressLine(progress: progress, rate: 10_000_000, columns: 90, usesBlocks: false).text
    #expect(line.hasPrefix("f.iso  [#") && line.contains("50%"))
    #expect(line.hasSuffix("500 MB/1.00 GB  10.0 MB/s  0:50 left  4 conn"))
  }

  @Test("the summary says what the digest is worth")
  func summary() {
    var result = DownloadResult(
      path: "f", length: 2_000_000, sha256: "ab", checksum: Checksum(.sha256, hex: "ab"),
      digestStatus: .verified, receivedBytes: 1_000_000, resumedBytes: 1_000_000, seconds: 2, retries: 1,
      connections: 4, wasComplete: false)
    #expect(
      Report.summary(result) == [
        "f: 2.0 MB in 2.00 s, 500 kB/s, 1.0 MB of it from before, 1 retry", "sha256 ab verified",
      ])
    result.digestStatus = .matchesServer(field: "Repr-Digest")
    #expect(Report.summary(result).last == "sha256 ab matches the server's digest (Repr-Digest)")
    result.checksum = Checksum(.md5, hex: "cd")
    result.digestStatus = .matchesWeak(field: "x-goog-hash")
    #expect(
      Report.summary(result).suffix(2) == [
        "sha256 ab computed", "md5 cd matches (weak, the server's x-goog-hash)",
      ])
    result.digestStatus = .matchesWeak(field: nil)
    #expect(Report.summary(result).last == "md5 cd matches (weak)")
    result.wasComplete = true
    #expect(Report.summary(result) == ["f: already complete, matches (weak) (2.0 MB)"])
    (result.wasComplete, result.checksum, result.digestStatus) = (false, nil, .computed)
    #expect(Report.summary(result).last == "sha256 ab computed")
    result.sha256 = nil
    #expect(Report.summary(result).count == 1)
  }

  @Test("while nothing comes the line says why, escaped and within its width")
  func trouble() {
    var progress = DownloadProgress()
    (progress.name, progress.total, progress.phase) = ("f", 1000, .starting)
    progress.trouble = "no\u{1b}[31m route"
    let line = ProgressLine(progress: progress, rate: 0, columns: 60, usesBlocks: true).text
    #expect(line.contains("waiting: no\\x1b[31m route") && line.count <= 60)
    #expect(ProgressLine(progress: progress, rate: 0, columns: 20, usesBlocks: true).text.count <= 20)
    #expect(Report.plain(progress, rate: 0).hasSuffix(", waiting: no\\x1b[31m route"))
  }

  @Test("an error says what failed, what was kept, and what to do")
  func error() {
    var error = DownloadError(.network, "http://h/f\u{1b}: cut", advice: "look")
    error.kept = DownloadError.Kept(
      path: "f.haul-part", durable: 1_000_000, written: 2_000_000, total: 4_000_000, canResume: true)
    #expect(
      Report.error(error) == [
        "haul: http://h/f\\x1b: cut",
        "haul: kept 2.0 MB of 4.0 MB in f.haul-part, 1.0 MB of it safe on the disk; a power loss would take the rest",
        "haul: look",
      ])
    error.kept?.canResume = false
    #expect(
      Report.error(error)[1]
        == "haul: left 2.0 MB of 4.0 MB in f.haul-part; the same command starts over")
  }
}
