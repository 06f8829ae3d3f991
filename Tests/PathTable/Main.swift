// SPDX-License-Identifier: Apache-2.0

import HaulCore
import PathModel

/// Prints how the automatic choice does on every path of the table, against fixed counts.
///
///   haul-paths [SEEDS [NAME]]          the table, or the paths with this text in their name
///   haul-paths SEED NAME auto|COUNT    one run, five lines a second
@main
enum Main {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let seeds = arguments.first.flatMap(UInt64.init) ?? 20
    let shapes = PathTable.all.filter { shape in arguments.count < 2 || shape.name.contains(arguments[1]) }
    if arguments.count == 3 {
      for shape in shapes { follow(shape, arguments[2], seed: seeds) }
    } else {
      for shape in shapes { compare(shape, seeds) }
    }
  }

  private static func compare(_ shape: PathShape, _ seeds: UInt64) {
    var line = shape.name + String(repeating: " ", count: max(1, 34 - shape.name.count))
    var best = (goodput: 0.0, count: 0)
    for count in PathTable.fixedCounts {
      let goodput = median(shape, .fixed(count), seeds).goodput
      if goodput > best.goodput { best = (goodput, count) }
      line += " \(count):" + short(goodput)
    }
    let found = median(shape, .automatic, seeds)
    line += "  auto:\(short(found.goodput)) MB/s (\(found.busy) busy, \(short(found.seconds)) s)"
    print(line + "  \(Int(100 * found.goodput / best.goodput)) % of \(best.count)")
  }

  private static func follow(_ shape: PathShape, _ count: String, seed: UInt64) {
    let choice = Int(count).map { ConnectionBudget.Choice.fixed($0) } ?? .automatic
    var run = PathRun(shape, connections: choice, seed: seed)
    run.run { print($0) }
    print(run.seconds.map { "\(shape.name): \(short($0)) s" } ?? "\(shape.name): no end")
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
