// SPDX-License-Identifier: Apache-2.0

import Haul

/// Shows one download while it runs: a live line on a terminal, a plain line now and then elsewhere.
struct Display {
  enum Style { case live, plain, quiet }

  let style: Style

  init(quiet: Bool) {
    style = quiet ? .quiet : Terminal.errorIsTerminal ? .live : .plain
  }

  /// Seconds between two frames of the live line, and between two plain lines.
  private static let frame = 0.1
  private static let plainInterval = 5.0

  /// Shows `download` until its end, then what it has to say.
  func follow(_ download: Download) async -> Result<DownloadResult, DownloadError> {
    let drawing = Task { await draw(download) }
    let outcome: Result<DownloadResult, DownloadError>
    do throws(DownloadError) {
      outcome = .success(try await download.result())
    } catch {
      outcome = .failure(error)
    }
    drawing.cancel()
    await drawing.value
    showNotices(of: download)
    switch outcome {
    case .success(let result):
      if style != .quiet { for line in Report.summary(result) { Terminal.print(line) } }
    case .failure(let error):
      for line in Report.error(error) { Terminal.printError(line) }
    }
    return outcome
  }

  private func draw(_ download: Download) async {
    guard style != .quiet else { return }
    var window = RateWindow()
    var nextPlain = Self.plainInterval
    let clock = ContinuousClock()
    let start = clock.now
    let usesBlocks = Terminal.isUTF8
    while !Task.isCancelled {
      let elapsed = start.duration(to: clock.now) / .seconds(1)
      let progress = download.progress
      // What an earlier run left was not received now, however suddenly it appears.
      window.add(received: progress.received - progress.resumed, now: elapsed)
      showNotices(of: download)
      if style == .live {
        let line = ProgressLine(
          progress: progress, rate: window.rate, columns: Terminal.columns, usesBlocks: usesBlocks)
        Terminal.draw("\r\u{1b}[K" + line.text)
      } else if elapsed >= nextPlain {
        nextPlain += Self.plainInterval
        Terminal.printError(Report.plain(progress, rate: window.rate))
      }
      try? await clock.sleep(for: .seconds(Self.frame))
    }
    if style == .live { Terminal.draw("\r\u{1b}[K") }
  }

  private func showNotices(of download: Download) {
    guard style != .quiet else { return }
    for notice in download.takeNotices() {
      if style == .live { Terminal.draw("\r\u{1b}[K") }
      Terminal.printError(Report.notice(notice))
    }
  }
}
