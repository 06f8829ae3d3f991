// SPDX-License-Identifier: Apache-2.0

import HaulCore
import TestSupport
import Testing

@Suite("ChunkBitmap")
struct ChunkBitmapTests {
  static let counts = [0, 1, 63, 64, 65, 127, 128, 200]

  @Test("behaves as an array of flags", arguments: counts, [1, 2, 3] as [UInt64])
  func model(_ count: Int, seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var subject = ChunkBitmap(count: count)
    var other = ChunkBitmap(count: count)
    var model = [Bool](repeating: false, count: count)
    var otherModel = model
    for _ in 0..<(count == 0 ? 0 : 300) {
      let index = Int.random(in: 0..<count, using: &generator)
      model[index] = Bool.random(using: &generator)
      subject[index] = model[index]
      let second = Int.random(in: 0..<count, using: &generator)
      otherModel[second].toggle()
      other[second] = otherModel[second]
    }
    #expect((0..<count).map { subject[$0] } == model)
    #expect(subject.setCount == model.count { $0 })
    #expect(subject.isFull == model.allSatisfy { $0 })
    #expect(subject.subtracting(other) == (0..<count).filter { model[$0] && !otherModel[$0] })
    for value in [true, false] {
      for from in 0...count {
        #expect(subject.first(value, from: from) == model[from...].firstIndex(of: value))
      }
      let runs = subject.runs(of: value)
      #expect(runs.flatMap(Array.init) == (0..<count).filter { model[$0] == value })
      for (left, right) in zip(runs, runs.dropFirst()) { #expect(left.upperBound < right.lowerBound) }
    }
    #expect(ChunkBitmap(count: count, words: subject.words) == subject)
  }

  @Test("a full bitmap has one run", arguments: counts)
  func full(_ count: Int) {
    var subject = ChunkBitmap(count: count)
    for index in 0..<count { subject[index] = true }
    #expect(subject.isFull)
    #expect(subject.runs(of: true) == (count == 0 ? [] : [0..<count]))
    #expect(subject.runs(of: false).isEmpty)
    #expect(subject.first(false) == nil)
  }

  @Test(
    "words that do not fit are refused",
    arguments: [
      (-1, []), (0, [0]), (1, []), (1, [2]), (1, [0, 0]), (64, [1, 0]), (65, [0, 2]), (65, [.max]),
    ] as [(Int, [UInt64])])
  func misfits(_ count: Int, _ words: [UInt64]) {
    #expect(ChunkBitmap(count: count, words: words) == nil)
  }

  @Test(
    "words that fit are taken",
    arguments: [(0, []), (1, [1]), (64, [.max]), (65, [0, 1])] as [(Int, [UInt64])])
  func fits(_ count: Int, _ words: [UInt64]) {
    let bitmap = ChunkBitmap(count: count, words: words)
    #expect(bitmap?.setCount == words.reduce(0) { $0 + $1.nonzeroBitCount })
  }
}
