// SPDX-License-Identifier: Apache-2.0

/// Which chunks of an unfinished file are compared with another source before it may complete the file.
package enum SampleChunks {
  /// The first and the last chunk that is there, and one between them; fewer where there are fewer. Ascending.
  /// - Parameter dice: 0 ..< 1, chooses the one between.
  package static func choose(from present: ChunkBitmap, dice: Double) -> [Int] {
    let there = present.runs(of: true).flatMap { Array($0) }
    guard let first = there.first, let last = there.last, first != last else { return Array(there.prefix(1)) }
    let between = there.dropFirst().dropLast()
    guard !between.isEmpty else { return [first, last] }
    let index = between.startIndex + min(between.count - 1, Int(dice * Double(between.count)))
    return [first, between[index], last]
  }

  /// The first and the last chunk that is there, and one of every `stretch` chunks between them. Ascending.
  package static func spread(
    over present: ChunkBitmap, stretch: Int, using generator: inout some RandomNumberGenerator
  ) -> [Int] {
    let there = present.runs(of: true).flatMap { Array($0) }
    guard let first = there.first, let last = there.last else { return [] }
    var chosen: Set = [first, last]
    var rest = there[...]
    while let start = rest.first {
      let end = (start / stretch + 1) * stretch
      let group = rest.prefix { $0 < end }
      if let one = group.randomElement(using: &generator) { chosen.insert(one) }
      rest = rest.dropFirst(group.count)
    }
    return chosen.sorted()
  }
}
