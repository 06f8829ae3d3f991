// SPDX-License-Identifier: Apache-2.0

import HaulCore
import TestSupport

/// How one seed's server behaves. What lasts is drawn once, so that a seed is a world; what happens to single
/// answers has its chances here.
struct ServerScript {
  /// What the client may expect of it.
  enum Temper: CaseIterable {
    /// Legal HTTP, one generation, troubles that end: the file must come.
    case still
    /// Legal HTTP, but the file changes: one generation of it, or an error.
    case changing
    /// Anything: one generation, or an error.
    case hostile
  }

  /// One version of the file, as its headers tell it.
  struct Generation: Equatable {
    var length: Int
    var etag: String?
    var lastModified: String?
  }

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
    /// A mirror that was not told of the last change.
    var stale = 0
    /// A part that begins before the range that was asked for.
    var early = 0
    /// A head that no server should send: see ``ServerScript/Oddity``.
    var odd = 0
  }

  /// What can be wrong with a head. None of them is a lie that only a digest could find.
  enum Oddity: CaseIterable {
    case noContentRange, otherUnit, twoContentRanges, turnedContentRange, overflow, unknownTotal, longerTotal
    case oddForm, endsBehindFile, noContentLength, longContentLength, badContentLength, coded, multipart
    case noValidator, otherTag, unaskedPart, unsatisfied, unsatisfiedWithoutLength, status
  }

  /// What its entity tags are worth, where it has any.
  enum Tags { case constant, perBackend, random }

  /// What it makes of If-Match and If-Unmodified-Since.
  enum Conditions: CaseIterable { case honoured, ignored, alwaysFailed, alwaysWhole }

  let temper: Temper
  let generations: [Generation]
  /// The number of requests after which each further generation is there.
  let changesAfter: [Int]
  let honoursRanges: Bool
  let tellsLength: Bool
  let tags: Tags
  let conditions: Conditions
  /// The number of requests after which every range is ignored.
  let rangesEndAfter: Int
  /// Seconds after which a link stops to work, counted from its renewal.
  let linkLife: Double
  /// Among how many places, all of which have the file, a new link chooses.
  let places: Int
  /// Whether its parts do not tell the length of the file.
  let hidesTotal: Bool
  /// More connections than this at a time are refused.
  let mostConnections: Int
  let refusalStatus: Int
  let retryAfter: Int?
  let roundTrip: Double
  let chances: Chances
  /// How often something may go wrong before everything goes well.
  let mostTroubles: Int
  /// From this moment on every request fails.
  let diesAt: Double

  init(_ dice: inout SeededGenerator) {
    temper = [.still, .still, .changing, .hostile, .hostile].randomElement(using: &dice) ?? .still
    let isStill = temper == .still
    chances = Self.chances(temper, &dice)
    honoursRanges = Int.random(in: 0..<5, using: &dice) != 0
    tellsLength = Int.random(in: 0..<4, using: &dice) != 0
    generations = Self.generations(temper, &dice)
    // Tags that differ for one version say nothing about two of them.
    let kinds: [Tags] = [.constant, .constant, .perBackend, .random]
    tags = generations.count == 1 ? kinds.randomElement(using: &dice)! : .constant
    conditions = Conditions.allCases.randomElement(using: &dice) ?? .honoured
    let rangesEnd = Int.random(in: 0..<6, using: &dice) == 0
    rangesEndAfter = rangesEnd ? Int.random(in: 1...12, using: &dice) : .max
    // A question (what is the file now?) that meets a link that has run out does not ask for a new one yet.
    let expires = Int.random(in: 0..<5, using: &dice) == 0 && !isStill
    linkLife = expires ? Double.random(in: 0.5...9, using: &dice) : .infinity
    places = [1, 2, 5].randomElement(using: &dice) ?? 1
    hidesTotal = generations.count == 1 && Int.random(in: 0..<8, using: &dice) == 0
    changesAfter = generations.dropFirst().map { _ in Int.random(in: 1...12, using: &dice) }.sorted()
    mostConnections = [1, 2, 3, 5, 100, 100, 100].randomElement(using: &dice) ?? 1
    refusalStatus = [503, 429, 403].randomElement(using: &dice) ?? 503
    retryAfter = Bool.random(using: &dice) ? Int.random(in: 0...90, using: &dice) : nil
    roundTrip = Double.random(in: 0.0001...0.4, using: &dice)
    let dies = Int.random(in: 0..<12, using: &dice) == 0 && !isStill
    diesAt = dies ? Double.random(in: 0...20, using: &dice) : .infinity
    mostTroubles = isStill ? Int.random(in: 0...5, using: &dice) : .max
  }

  /// The retries with which a client gets the file from this server, or nil where none are enough. Finding out
  /// what tags are worth, or that ranges have ended or tell no length, costs some, too.
  var neededRetries: Int? {
    guard temper == .still else { return nil }
    return mostTroubles + (tags == .constant ? 0 : 3) + (rangesEndAfter == .max ? 0 : 3)
      + (hidesTotal ? 2 : 0)
  }

  /// What its heads may suffer. Those of a file that changes keep what tells its generations apart: a change
  /// that no head tells is beyond anybody without a digest.
  var oddities: [Oddity] {
    var hiding: [Oddity] = generations.count == 1 ? [] : [.noValidator, .otherTag]
    // An equal strong validator would be the server's word for one file, in a part that tells no length.
    let strongest = generations.map(\.identity.strongest)
    let telling = strongest.compactMap(\.self)
    if Set(telling).count < telling.count { hiding.append(.unknownTotal) }
    return Oddity.allCases.filter { !hiding.contains($0) }
  }

  /// Whether two versions that differ in their tags alone may be served in turn: then the date, which stays, is
  /// the server's word for one file.
  var hasTwins: Bool {
    zip(generations, generations.dropFirst()).contains {
      $0.length == $1.length && $0.lastModified == $1.lastModified && $0.lastModified != nil
    }
  }

  func generation(afterRequests count: Int) -> Int { changesAfter.count { $0 < count } }

  private static func chances(_ temper: Temper, _ dice: inout SeededGenerator) -> Chances {
    func chance(_ oneIn: Int, _ most: Int) -> Int {
      Int.random(in: 0..<oneIn, using: &dice) == 0 ? Int.random(in: 1...most, using: &dice) : 0
    }
    var chances = Chances()
    chances.refusal = chance(3, 300)
    chances.cutBeforeHead = chance(3, 200)
    chances.cutInBody = chance(2, 500)
    chances.stall = chance(4, 100)
    chances.short = chance(3, 700)
    chances.redirect = chance(4, 300)
    chances.errorWithoutEnd = chance(6, 50)
    chances.noAnswer = chance(6, 100)
    guard temper == .hostile else { return chances }
    chances.long = chance(5, 1000)
    chances.shifted = chance(6, 100)
    chances.whole = chance(6, 100)
    chances.emptyBody = chance(6, 100)
    chances.stale = chance(4, 300)
    chances.early = chance(5, 300)
    chances.odd = chance(2, [50, 300, 1000].randomElement(using: &dice) ?? 50)
    return chances
  }

  // MARK: Generations

  private static func generations(_ temper: Temper, _ dice: inout SeededGenerator) -> [Generation] {
    let first = Generation(
      length: length(&dice),
      etag: [nil, nil, "\"a\"", "\"a\"", "W/\"a\""].randomElement(using: &dice) ?? nil,
      lastModified: Bool.random(using: &dice) ? HTTPDate.format(1000) : nil)
    var all = [first]
    let changes =
      temper == .still ? 0 : temper == .changing ? 1 : [0, 0, 1, 3].randomElement(using: &dice) ?? 0
    for number in 0..<changes {
      // One that looks like an earlier one would be a change that no head tells.
      var next = successor(of: all[number], number, isOnly: changes == 1, &dice)
      while all.contains(next) { next.length += 1 }
      all.append(next)
    }
    return all
  }

  private static func length(_ dice: inout SeededGenerator) -> Int {
    switch Int.random(in: 0..<10, using: &dice) {
    case 0: Int.random(in: 0...3, using: &dice)
    case 1: Int.random(in: 0...(5 << 20), using: &dice)
    default: Int.random(in: 0...(128 << 20), using: &dice)
    }
  }

  /// A generation that differs in something that a head tells: a change that none tells, only a digest finds.
  private static func successor(
    of old: Generation, _ number: Int, isOnly: Bool, _ dice: inout SeededGenerator
  ) -> Generation {
    var new = old
    let letter = ["b", "c", "d"][number % 3]
    switch Int.random(in: 0..<4, using: &dice) {
    // Of several tags under one date the date is believed.
    case 0 where old.etag != nil && (isOnly || old.lastModified == nil):
      new.etag = old.etag.map { $0.hasPrefix("W") ? "W/\"\(letter)\"" : "\"\(letter)\"" }
    // A strong tag decides alone: one that stays with another date is the server's word for one file.
    case 1 where old.lastModified != nil && old.etag?.hasPrefix("\"") != true:
      new.lastModified = HTTPDate.format(2000 + number)
    default:
      new.length = max(0, old.length + [-1, 1, 4096, -(1 << 20), 1 << 20].randomElement(using: &dice)!)
      if new.length == old.length { new.length += 1 }
      // An equal strong tag would be the server's word for one file, in answers that tell no length.
      if old.etag?.hasPrefix("\"") == true { new.etag = "\"\(letter)\"" }
    }
    return new
  }
}
