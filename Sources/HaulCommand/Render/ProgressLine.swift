// SPDX-License-Identifier: Apache-2.0

import Haul

/// How fast a download is now: over the last two seconds or so.
struct RateWindow {
  private var samples: [(at: Double, received: Int)] = []

  /// - Parameter now: monotonic seconds.
  mutating func add(received: Int, now: Double) {
    // A start over takes bytes back; what was measured before says nothing then.
    if let last = samples.last, received < last.received { samples = [] }
    samples.append((now, received))
    while samples.count > 2, now - samples[1].at >= 2 { samples.removeFirst() }
  }

  /// Bytes a second, or nil before there are two samples.
  var rate: Double? {
    guard let first = samples.first, let last = samples.last, last.at - first.at > 0.05 else { return nil }
    return Double(last.received - first.received) / (last.at - first.at)
  }
}

/// The one live line of a download, as text of at most `columns` cells. Pure.
struct ProgressLine {
  var progress: DownloadProgress
  var rate: Double?
  var columns: Int
  var usesBlocks: Bool

  var text: String {
    let tail = details
    let percent = fraction.map { pad("\(Int($0 * 100))%", to: 4) + "  " } ?? ""
    let room = columns - 3 - tail.count - percent.count
    let name = shortened(TerminalSafe.escaped(progress.name ?? "…"), to: max(8, min(32, room / 2)))
    let barWidth = room - name.count - 4
    guard barWidth >= 6, let fraction else {
      return String("\(name)  \(percent)\(tail)".prefix(columns - 3))
    }
    return "\(name)  \(bar(fraction, width: barWidth))\(percent)\(tail)"
  }

  private var fraction: Double? {
    guard let total = progress.total else { return nil }
    return total == 0 ? 1 : Double(progress.received) / Double(total)
  }

  private var details: String {
    let total = progress.total.map { "/" + Quantities.bytes($0) } ?? ""
    var parts = [Quantities.bytes(progress.received) + total]
    switch progress.phase {
    case .starting where progress.trouble == nil: parts.append("starting")
    case .finishing: parts.append(progress.hashed < progress.received ? "checking" : "finishing")
    case .starting, .fetching, .ended:
      if let trouble = progress.trouble {
        parts.append("waiting: \(TerminalSafe.escaped(trouble))")
        break
      }
      parts.append(rate.map(Quantities.rate) ?? "—")
      if let rate, rate > 0, let total = progress.total, columns >= 60 {
        parts.append(Quantities.duration(Double(total - progress.received) / rate) + " left")
      }
      if columns >= 70 { parts.append("\(progress.connections) conn") }
    }
    return parts.joined(separator: "  ")
  }

  private func bar(_ fraction: Double, width: Int) -> String {
    let cells = Double(width - 2) * min(1, max(0, fraction))
    let full = Int(cells)
    guard usesBlocks else {
      return "[" + String(repeating: "#", count: full) + String(repeating: ".", count: width - 2 - full) + "]"
    }
    let eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][Int((cells - Double(full)) * 8)]
    let filled = String(repeating: "█", count: full) + eighths
    return "▕" + filled + String(repeating: " ", count: width - 2 - filled.count) + "▏"
  }

  private func pad(_ text: String, to width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }

  /// Cuts in the middle: the end of a file's name says most.
  private func shortened(_ text: String, to width: Int) -> String {
    guard text.count > width else { return text }
    let mark = usesBlocks ? "…" : "~"
    let back = (width - 1) / 2
    return text.prefix(width - 1 - back) + mark + text.suffix(back)
  }
}
