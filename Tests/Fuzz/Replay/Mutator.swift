// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// Makes new inputs of known ones, without looking at what they reach: what is left of fuzzing where libFuzzer
/// is not to be had.
struct Mutator {
  private var dice: SeededGenerator
  private let corpus: [[UInt8]]
  private let mostBytes: Int

  init(seed: UInt64, corpus: [[UInt8]], mostBytes: Int) {
    dice = SeededGenerator(seed: seed)
    self.corpus = corpus
    self.mostBytes = mostBytes
  }

  mutating func next() -> [UInt8] {
    var bytes = corpus.randomElement(using: &dice) ?? []
    for _ in 0..<Int.random(in: 1...4, using: &dice) { mutate(&bytes) }
    return Array(bytes.prefix(mostBytes))
  }

  private mutating func mutate(_ bytes: inout [UInt8]) {
    let place = Int.random(in: 0...bytes.count, using: &dice)
    switch Int.random(in: 0..<6, using: &dice) {
    case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &dice)
    case 1 where place < bytes.count: bytes[place] = UInt8.random(in: 0...255, using: &dice)
    case 2 where place < bytes.count: bytes.removeSubrange(place..<min(bytes.count, place + 4))
    case 3: bytes.insert(UInt8.random(in: 0...255, using: &dice), at: place)
    case 4:
      // The beginning of this one and the end of another.
      let other = corpus.randomElement(using: &dice) ?? []
      bytes = bytes.prefix(place) + Array(other.dropFirst(Int.random(in: 0...other.count, using: &dice)))
    default:
      let repeated = bytes[place..<min(bytes.count, place + 8)]
      for _ in 0..<Int.random(in: 1...40, using: &dice) { bytes.insert(contentsOf: repeated, at: place) }
    }
  }
}
