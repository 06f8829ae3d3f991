// SPDX-License-Identifier: Apache-2.0

/// One bit a chunk, set where the chunk is there.
package struct ChunkBitmap: Equatable, Sendable {
  package let count: Int
  /// Bit i of word i / 64, least significant first. Bits past `count` are always 0.
  package private(set) var words: [UInt64]
  package private(set) var setCount: Int

  /// - Precondition: `count >= 0`.
  package init(count: Int) {
    self.count = count
    words = [UInt64](repeating: 0, count: (count + 63) / 64)
    setCount = 0
  }

  /// A bitmap read back, or nil where the words do not fit `count` or a bit past the end is set.
  package init?(count: Int, words: [UInt64]) {
    guard count >= 0, words.count == (count + 63) / 64 else { return nil }
    if count % 64 != 0, let last = words.last, last >> UInt64(count % 64) != 0 { return nil }
    self.count = count
    self.words = words
    setCount = words.reduce(0) { $0 + $1.nonzeroBitCount }
  }

  package var isFull: Bool { setCount == count }

  package subscript(index: Int) -> Bool {
    get { words[index >> 6] & (1 << UInt64(index & 63)) != 0 }
    set {
      precondition(index >= 0 && index < count, "no such chunk")
      let bit: UInt64 = 1 << UInt64(index & 63)
      guard (words[index >> 6] & bit != 0) != newValue else { return }
      words[index >> 6] ^= bit
      setCount += newValue ? 1 : -1
    }
  }

  /// The first chunk at or after `index` whose bit equals `value`, or nil.
  package func first(_ value: Bool, from index: Int = 0) -> Int? {
    guard index < count else { return nil }
    var word = index >> 6
    var bits = (value ? words[word] : ~words[word]) & (UInt64.max << UInt64(index & 63))
    while bits == 0 {
      word += 1
      guard word < words.count else { return nil }
      bits = value ? words[word] : ~words[word]
    }
    let found = word << 6 + bits.trailingZeroBitCount
    return found < count ? found : nil
  }

  /// The runs of chunks whose bit equals `value`, ascending.
  package func runs(of value: Bool) -> [Range<Int>] {
    var result: [Range<Int>] = []
    var position = 0
    while let start = first(value, from: position) {
      let end = first(!value, from: start) ?? count
      result.append(start..<end)
      position = end
    }
    return result
  }

  /// The set chunks that are not set in `other`, ascending.
  package func subtracting(_ other: ChunkBitmap) -> [Int] {
    var result: [Int] = []
    for (position, word) in words.enumerated() {
      var bits = word & ~other.words[position]
      while bits != 0 {
        result.append(position << 6 + bits.trailingZeroBitCount)
        bits &= bits - 1
      }
    }
    return result
  }
}
