// SPDX-License-Identifier: Apache-2.0

import HaulCore
import TestSupport
import Testing

@Suite("ByteRangeSet")
struct ByteRangeSetTests {
  /// Random steps against a plain set of offsets, which is slow and obviously right.
  @Test("behaves as a set of offsets", arguments: 0..<40 as Range<UInt64>)
  func model(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let limit = 64
    var subject = ByteRangeSet()
    var model: Set<Int> = []
    for _ in 0..<200 {
      let range = Self.range(below: limit, &generator)
      if Bool.random(using: &generator) {
        subject.insert(range)
        model.formUnion(range.lower..<range.upper)
      } else {
        subject.remove(range)
        model.subtract(range.lower..<range.upper)
      }
      check(subject, model, limit)

      let probe = Self.range(below: limit, &generator)
      let offsets = Set(probe.lower..<probe.upper)
      #expect(subject.contains(probe) == offsets.isSubset(of: model))
      #expect(Self.offsets(subject.intersection(probe)) == offsets.intersection(model).sorted())
      #expect(Self.offsets(subject.gaps(in: probe)) == offsets.subtracting(model).sorted())
      #expect(
        subject.end(ofRunAt: probe.lower) == (probe.lower...limit).first { !model.contains($0) },
        "the run ends at the first offset that is not in the set")
    }
  }

  @Test("neighbours become one range")
  func neighbours() {
    var set = ByteRangeSet([ByteRange(0, 5), ByteRange(10, 15)])
    #expect(set.ranges.count == 2)
    set.insert(ByteRange(5, 10))
    #expect(set.ranges == [ByteRange(0, 15)])
    set.remove(ByteRange(3, 3))
    #expect(set.ranges == [ByteRange(0, 15)])
  }

  @Test("offsets up to the largest number")
  func largest() {
    var set = ByteRangeSet(ByteRange(Int.max - 10, Int.max))
    set.insert(ByteRange(0, 1))
    #expect(set.count == 11)
    #expect(set.end(ofRunAt: Int.max - 3) == Int.max)
    #expect(set.gaps(in: ByteRange(0, Int.max)) == [ByteRange(1, Int.max - 10)])
    set.remove(ByteRange(0, Int.max))
    #expect(set.isEmpty)
    #expect(set.count == 0)
  }

  private func check(_ subject: ByteRangeSet, _ model: Set<Int>, _ limit: Int) {
    #expect(subject.count == model.count)
    #expect(Self.offsets(subject.ranges) == model.sorted())
    #expect(subject.isEmpty == model.isEmpty)
    #expect(subject.first?.lower == model.min())
    #expect(!subject.ranges.contains { $0.isEmpty })
    for (left, right) in zip(subject.ranges, subject.ranges.dropFirst()) {
      #expect(left.upper < right.lower, "neighbours are one range")
    }
  }

  private static func range(below limit: Int, _ generator: inout SeededGenerator) -> ByteRange {
    let lower = Int.random(in: 0..<limit, using: &generator)
    return ByteRange(lower, Int.random(in: lower...limit, using: &generator))
  }

  private static func offsets(_ ranges: [ByteRange]) -> [Int] {
    ranges.flatMap { Array($0.lower..<$0.upper) }
  }
}
