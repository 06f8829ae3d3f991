// SPDX-License-Identifier: Apache-2.0

/// A link has led to another place (origin and path) with the same validator. That means nothing across
/// places, so a few chunks that are there already are fetched from it and compared, before a byte of it is
/// taken.
struct PlaceComparison: Sendable {
  /// The connection slot that fetches them, one after the other.
  let connection: Int
  let place: String
  /// What is to be fetched still, in order; nil until the owner has chosen.
  var missing: [ByteRange]?
  /// Its owner was asked what came of it.
  var isJudged = false

  init(connection: Int, place: String) {
    self.connection = connection
    self.place = place
  }

  /// Notes bytes of the first missing range and tells how many of them are wanted.
  mutating func received(_ count: Int) -> Int {
    guard let first = missing?.first else { return 0 }
    let wanted = min(count, first.count)
    missing?[0] = ByteRange(first.lower + wanted, first.upper)
    if missing?[0].isEmpty == true { missing?.removeFirst() }
    return wanted
  }
}
