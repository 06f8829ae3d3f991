// SPDX-License-Identifier: Apache-2.0

import HaulCore

/// Of which generation each byte of a simulated file is. Shares nothing with the scheduler.
struct ByteLedger {
  private var byGeneration: [Int: ByteRangeSet] = [:]
  private(set) var all = ByteRangeSet()

  /// Bytes come in; where there are some already, those stay, as the writer's written set has it.
  mutating func put(_ range: ByteRange, of generation: Int) {
    for gap in all.gaps(in: range) { byGeneration[generation, default: ByteRangeSet()].insert(gap) }
    all.insert(range)
  }

  mutating func clear() { self = ByteLedger() }

  /// Of which generation a range is; nil where it is not there whole, or of two.
  func generation(of range: ByteRange) -> Int? {
    byGeneration.first { $0.value.gaps(in: range).isEmpty }?.key
  }

  /// The generations of which there are bytes, ascending.
  var generations: [Int] { byGeneration.filter { $0.value.count > 0 }.map(\.key).sorted() }
}
