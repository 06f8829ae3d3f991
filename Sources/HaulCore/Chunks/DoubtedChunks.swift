// SPDX-License-Identifier: Apache-2.0

/// Chunks with bytes of an answer that did not have its own digest, until they are struck out.
package struct DoubtedChunks: Equatable, Sendable {
  /// So often in one place, and it is no accident of the way.
  static let mostTimes = 3

  /// Not yet on their way to be struck out.
  private var waiting: Set<Int> = []
  /// On their way. A doubt that comes meanwhile is another one: the bytes may have been written behind the
  /// strike.
  private var underway: Set<Int> = []
  /// How often each was doubted, in the whole download. Counted by place, because in a long one even a few
  /// wrong answers in a million become many.
  private var times: [Int: Int] = [:]

  package init() {}

  package var isEmpty: Bool { waiting.isEmpty && underway.isEmpty }

  /// Whether a strike has begun and has not ended.
  package var isStriking: Bool { !underway.isEmpty }

  /// All of them, ascending.
  package var all: [Int] { waiting.union(underway).sorted() }

  /// - Returns: whether one of them was doubted so often that fetching it again is of no use.
  package mutating func doubt(_ chunks: some Sequence<Int>) -> Bool {
    var isHopeless = false
    for chunk in chunks {
      waiting.insert(chunk)
      times[chunk, default: 0] += 1
      if times[chunk, default: 0] >= Self.mostTimes { isHopeless = true }
    }
    return isHopeless
  }

  /// What is to be struck out now, ascending; nothing while a strike is under way.
  package mutating func beginStrike() -> [Int] {
    guard underway.isEmpty else { return [] }
    swap(&underway, &waiting)
    return underway.sorted()
  }

  package mutating func endStrike() { underway = [] }

  /// Everything was thrown away. How often a place was wrong stays.
  package mutating func forgetAll() { (waiting, underway) = ([], []) }
}
