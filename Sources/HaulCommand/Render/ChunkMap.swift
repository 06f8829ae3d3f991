// SPDX-License-Identifier: Apache-2.0

/// Which chunks of a file are there, as one row of at most `width` cells. Pure.
struct ChunkMap {
  var count: Int
  /// Ascending runs that do not meet.
  var durable: [Range<Int>]
  var written: [Range<Int>]
  var usesBlocks: Bool

  private enum Cell: CaseIterable { case durable, written, partly, missing }

  func row(width: Int) -> String {
    let cells = min(max(1, width), count)
    return String((0..<cells).map { symbol(cell($0, of: cells)) })
  }

  /// What the symbols mean.
  var legend: String {
    "\(symbol(.durable)) durable  \(symbol(.written)) written, not yet durable  \(symbol(.partly)) in part"
      + "  \(symbol(.missing)) missing"
  }

  private func cell(_ index: Int, of cells: Int) -> Cell {
    // Full width, so that a million chunks times the cells cannot overflow: both are far below 2^31.
    let chunks = index * count / cells..<(index + 1) * count / cells
    let isDurable = Self.overlap(durable, chunks)
    let isThere = isDurable + Self.overlap(written, chunks)
    if isDurable == chunks.count { return .durable }
    if isThere == chunks.count { return .written }
    return isThere == 0 ? .missing : .partly
  }

  private func symbol(_ cell: Cell) -> Character {
    switch cell {
    case .durable: usesBlocks ? "█" : "#"
    case .written: usesBlocks ? "▓" : "+"
    case .partly: usesBlocks ? "▒" : ":"
    case .missing: usesBlocks ? "░" : "."
    }
  }

  /// How many chunks of `range` are in the runs. They may be many, so the first one is searched for.
  private static func overlap(_ runs: [Range<Int>], _ range: Range<Int>) -> Int {
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].upperBound > range.lowerBound { high = middle } else { low = middle + 1 }
    }
    var total = 0
    while low < runs.count, runs[low].lowerBound < range.upperBound {
      total += runs[low].clamped(to: range).count
      low += 1
    }
    return total
  }
}
