// SPDX-License-Identifier: Apache-2.0

import HaulCore
import TestSupport

/// How one seed's server behaves. Everything is drawn once, so that a seed is a world.
struct SimulatedServer {
  /// Chances in 1000 for each request.
  struct Chances {
    var refusal = 0
    var cutBeforeHead = 0
    var cutInBody = 0
    var stall = 0
    var short = 0
    var long = 0
    var shifted = 0
    var whole = 0
    var redirect = 0
    var errorWithoutEnd = 0
    var noAnswer = 0
    var emptyBody = 0
  }

  let length: Int
  let honoursRanges: Bool
  let tellsLength: Bool
  let hasTag: Bool
  /// More connections than this at a time are refused.
  let mostConnections: Int
  let refusalStatus: Int
  let retryAfter: Int?
  let roundTrip: Double
  var chances = Chances()
  /// From this moment on every request fails.
  let diesAt: Double

  init(_ dice: inout SeededGenerator) {
    func chance(_ oneIn: Int, _ most: Int, _ dice: inout SeededGenerator) -> Int {
      Int.random(in: 0..<oneIn, using: &dice) == 0 ? Int.random(in: 1...most, using: &dice) : 0
    }
    switch Int.random(in: 0..<10, using: &dice) {
    case 0: length = Int.random(in: 0...3, using: &dice)
    case 1: length = Int.random(in: 0...(5 << 20), using: &dice)
    default: length = Int.random(in: 0...(128 << 20), using: &dice)
    }
    honoursRanges = Int.random(in: 0..<5, using: &dice) != 0
    tellsLength = Int.random(in: 0..<4, using: &dice) != 0
    hasTag = Bool.random(using: &dice)
    mostConnections = [1, 2, 3, 5, 100, 100, 100].randomElement(using: &dice) ?? 1
    refusalStatus = [503, 429, 403].randomElement(using: &dice) ?? 503
    retryAfter = Bool.random(using: &dice) ? Int.random(in: 0...90, using: &dice) : nil
    roundTrip = Double.random(in: 0.0001...0.4, using: &dice)
    diesAt = Int.random(in: 0..<20, using: &dice) == 0 ? Double.random(in: 0...20, using: &dice) : .infinity
    chances.refusal = chance(3, 300, &dice)
    chances.cutBeforeHead = chance(3, 200, &dice)
    chances.cutInBody = chance(2, 500, &dice)
    chances.stall = chance(4, 100, &dice)
    chances.short = chance(3, 700, &dice)
    chances.long = chance(5, 1000, &dice)
    chances.shifted = chance(6, 100, &dice)
    chances.whole = chance(6, 100, &dice)
    chances.redirect = chance(4, 300, &dice)
    chances.errorWithoutEnd = chance(6, 50, &dice)
    chances.noAnswer = chance(6, 100, &dice)
    chances.emptyBody = chance(6, 100, &dice)
  }
}
