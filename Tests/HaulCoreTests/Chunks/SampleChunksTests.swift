// SPDX-License-Identifier: Apache-2.0

import HaulCore
import TestSupport
import Testing

@Suite("SampleChunks")
struct SampleChunksTests {
  private func choose(_ present: [Int], _ dice: Double) -> [Int] {
    var bitmap = ChunkBitmap(count: 100)
    for index in present { bitmap[index] = true }
    return SampleChunks.choose(from: bitmap, dice: dice)
  }

  @Test("the first, the last and one between them")
  func chooses() {
    #expect(choose([], 0.5) == [])
    #expect(choose([7], 0.5) == [7])
    #expect(choose([7, 99], 0.5) == [7, 99])
    #expect(choose([0, 7, 99], 0.999) == [0, 7, 99])
    #expect(choose([3, 10, 20, 30, 40], 0) == [3, 10, 40])
    #expect(choose([3, 10, 20, 30, 40], 0.5) == [3, 20, 40])
    #expect(choose([3, 10, 20, 30, 40], 0.999_999) == [3, 30, 40])
  }

  @Test(
    "of a long file one of each stretch is chosen, and always the first and the last",
    arguments: 0..<50 as Range<UInt64>)
  func spreads(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var present = ChunkBitmap(count: 1000)
    for index in 30..<700 where index % 7 != 0 { present[index] = true }
    let chosen = SampleChunks.spread(over: present, stretch: 64, using: &generator)
    #expect(chosen == chosen.sorted() && Set(chosen).count == chosen.count)
    #expect(chosen.first == 30 && chosen.last == 699 && chosen.allSatisfy { present[$0] })
    for start in stride(from: 0, to: 640, by: 64) {
      #expect(chosen.contains { $0 >= start && $0 < start + 64 })
    }
    #expect(chosen.count <= 13)
    #expect(SampleChunks.spread(over: ChunkBitmap(count: 5), stretch: 64, using: &generator) == [])
  }
}
