// SPDX-License-Identifier: Apache-2.0

import HaulCore
import PathModel

/// Prints how the automatic choice does on every path of the table, against fixed counts.
@main
enum Main {
  static func main() {
    if CommandLine.arguments.count > 3 {
      let shape = PathTable.all.first { $0.name == CommandLine.arguments[2] }!
      let choice: ConnectionBudget.Choice =
        CommandLine.arguments[3] == "auto" ? .automatic : .fixed(Int(CommandLine.arguments[3])!)
      var run = PathRun(shape, connections: choice, seed: UInt64(CommandLine.arguments[1])!)
      run.run(trace: true)
      return
    }
    let seeds = CommandLine.arguments.dropFirst().first.flatMap(UInt64.init) ?? 20
    let only = CommandLine.arguments.dropFirst(2).first
    for shape in PathTable.all where only.map({ shape.name.contains($0) }) ?? true {
      var line = shape.name + String(repeating: " ", count: max(1, 34 - shape.name.count))
      var best = (goodput: 0.0, count: 0)
      for count in PathTable.fixedCounts {
        let goodput = median(shape, .fixed(count), seeds).goodput
        if goodput > best.goodput { best = (goodput, count) }
        line += " \(count):" + short(goodput)
      }
      let found = median(shape, .automatic, seeds)
      line += "  auto:\(short(found.goodput)) (\(found.busy) busy, \(short(found.seconds)) s)"
      print(line + "  \(Int(100 * found.goodput / best.goodput)) % of \(best.count)")
    }
  }

  private static func median(
    _ shape: PathShape, _ choice: ConnectionBudget.Choice, _ seeds: UInt64
  ) -> (goodput: Double, busy: Int, seconds: Double) {
    var runs: [(goodput: Double, busy: Int, seconds: Double)] = []
    for seed in 0..<seeds {
      var run = PathRun(shape, connections: choice, seed: seed)
      run.run()
      runs.append((run.seconds.map { Double(shape.length) / $0 / 1e6 } ?? 0, run.mostBusy, run.seconds ?? 0))
    }
    return runs.sorted { $0.goodput < $1.goodput }[runs.count / 2]
  }

  private static func short(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
