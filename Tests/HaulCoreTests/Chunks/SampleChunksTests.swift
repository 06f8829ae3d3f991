// SPDX-License-Identifier: Apache-2.0

import HaulCore
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
}
