// SPDX-License-Identifier: Apache-2.0

/// A set of byte offsets as sorted, disjoint, never-touching ranges.
///
/// Its size is the number of holes, not of bytes: with N connections a download has about N of them, so
/// inserting into a plain array is cheaper than any tree.
package struct ByteRangeSet: Equatable, Sendable {
  package private(set) var ranges: [ByteRange]
  /// The number of bytes in the set.
  package private(set) var count: Int

  package init() {
    ranges = []
    count = 0
  }

  package init(_ range: ByteRange) {
    ranges = range.isEmpty ? [] : [range]
    count = range.count
  }

  package init(_ many: some Sequence<ByteRange>) {
    self.init()
    for range in many { insert(range) }
  }

  package var isEmpty: Bool { ranges.isEmpty }
  package var first: ByteRange? { ranges.first }

  /// The index of the first range that ends after `offset`.
  private func firstIndex(endingAfter offset: Int) -> Int {
    var low = 0
    var high = ranges.count
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upper > offset { high = middle } else { low = middle + 1 }
    }
    return low
  }

  package func contains(_ offset: Int) -> Bool {
    let index = firstIndex(endingAfter: offset)
    return index < ranges.count && ranges[index].contains(offset)
  }

  package func contains(_ range: ByteRange) -> Bool {
    if range.isEmpty { return true }
    let index = firstIndex(endingAfter: range.lower)
    return index < ranges.count && ranges[index].contains(range)
  }

  package mutating func insert(_ range: ByteRange) {
    guard !range.isEmpty else { return }
    // Ranges that touch the new one are merged too: the set never holds two neighbours without a hole.
    let from = range.lower == 0 ? 0 : firstIndex(endingAfter: range.lower - 1)
    var to = from
    var merged = range
    while to < ranges.count, ranges[to].lower <= range.upper {
      merged.lower = min(merged.lower, ranges[to].lower)
      merged.upper = max(merged.upper, ranges[to].upper)
      count -= ranges[to].count
      to += 1
    }
    count += merged.count
    ranges.replaceSubrange(from..<to, with: CollectionOfOne(merged))
  }

  package mutating func remove(_ range: ByteRange) {
    guard !range.isEmpty else { return }
    let from = firstIndex(endingAfter: range.lower)
    var to = from
    var kept: [ByteRange] = []
    while to < ranges.count, ranges[to].lower < range.upper {
      let old = ranges[to]
      count -= old.count
      if old.lower < range.lower { kept.append(ByteRange(old.lower, range.lower)) }
      if old.upper > range.upper { kept.append(ByteRange(range.upper, old.upper)) }
      to += 1
    }
    for piece in kept { count += piece.count }
    ranges.replaceSubrange(from..<to, with: kept)
  }

  /// The end of the contiguous run that contains `offset`, or `offset` itself where it is not in the set.
  package func end(ofRunAt offset: Int) -> Int {
    let index = firstIndex(endingAfter: offset)
    guard index < ranges.count, ranges[index].contains(offset) else { return offset }
    return ranges[index].upper
  }

  /// The parts of `range` that are in the set, ascending.
  package func intersection(_ range: ByteRange) -> [ByteRange] {
    var result: [ByteRange] = []
    var index = firstIndex(endingAfter: range.lower)
    while index < ranges.count, let common = ranges[index].intersection(range) {
      result.append(common)
      index += 1
    }
    return result
  }

  /// The parts of `range` that are not in the set, ascending.
  package func gaps(in range: ByteRange) -> [ByteRange] {
    var result: [ByteRange] = []
    var position = range.lower
    for held in intersection(range) {
      if held.lower > position { result.append(ByteRange(position, held.lower)) }
      position = held.upper
    }
    if position < range.upper { result.append(ByteRange(position, range.upper)) }
    return result
  }
}
