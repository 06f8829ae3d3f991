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
    var stale = 0
    var early = 0
  }

  /// What its entity tags are worth.
  enum Tags: CaseIterable { case none, constant, perBackend, random }
  enum Conditions: CaseIterable { case honoured, ignored, alwaysFailed, alwaysWhole }

  let length: Int
  let honoursRanges: Bool
  let tellsLength: Bool
  let tags: Tags
  let hasDate: Bool
  let conditions: Conditions
  /// The moments at which the file is replaced by another one.
  let changesAt: [Double]
  /// From this moment on every range is ignored.
  let rangesEndAt: Double
  /// Seconds after which a link stops to work, counted from its renewal.
  let linkLife: Double
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
    tags =
      [.none, .constant, .constant, .constant, .perBackend, .random].randomElement(using: &dice) ?? .none
    hasDate = Bool.random(using: &dice)
    conditions = Conditions.allCases.randomElement(using: &dice) ?? .honoured
    let changes = [0, 0, 0, 0, 1, 1, 2, 3].randomElement(using: &dice) ?? 0
    changesAt = (0..<changes).map { _ in Double.random(in: 0...8, using: &dice) }.sorted()
    rangesEndAt =
      Int.random(in: 0..<6, using: &dice) == 0 ? Double.random(in: 0...8, using: &dice) : .infinity
    linkLife = Int.random(in: 0..<5, using: &dice) == 0 ? Double.random(in: 0.5...9, using: &dice) : .infinity
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
    chances.stale = chance(8, 300, &dice)
    chances.early = chance(5, 300, &dice)
  }

  /// The mirror that was not told of the last changes.
  static let staleGeneration = 9

  func generation(at now: Double) -> Int { changesAt.count { $0 <= now } }

  /// Every change shows in something that stays the same otherwise: in the length where nothing else does.
  func length(of generation: Int) -> Int {
    let showsElsewhere = hasDate || tags == .constant || tags == .perBackend
    return generation == 0 || showsElsewhere ? length : length + 7 * generation
  }

  /// The validators of an answer.
  func fields(of generation: Int, _ dice: inout SeededGenerator) -> [(String, String)] {
    var fields: [(String, String)] = []
    switch tags {
    case .none: break
    case .constant: fields.append(("ETag", "\"\(generation)\""))
    case .perBackend: fields.append(("ETag", "\"\(generation)-\(Int.random(in: 0..<3, using: &dice))\""))
    case .random: fields.append(("ETag", "\"\(UInt32.random(in: 0...(.max), using: &dice))\""))
    }
    if hasDate {
      fields.append(("Last-Modified", "Mon, 07 Nov 1994 08:49:3\(generation) GMT"))
      fields.append(("Date", "Tue, 08 Nov 1994 08:49:37 GMT"))
    }
    return fields
  }

  /// What an earlier run that had the first generation, from its first backend, stored of it.
  func change(from identity: Identity) -> ResourceChange? {
    switch tags {
    case .constant where identity.etag?.opaque != "0", .perBackend where identity.etag?.opaque != "0-0":
      return .etagVanished(was: "0")
    case .random: return .etagVanished(was: "another")
    case .none where hasDate && identity.lastModified?.contains(":30 ") != true:
      return .lastModified(was: "another", is: identity.lastModified)
    default: return nil
    }
  }
}
