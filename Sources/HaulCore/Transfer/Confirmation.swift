// SPDX-License-Identifier: Apache-2.0

/// One answer spoke of another generation. Before anything is thrown away, fresh connections are asked what the
/// file is now: a changed file answers the same everywhere, a lone backend does not.
struct Confirmation: Sendable {
  enum Outcome: Sendable, Equatable {
    /// The old generation is still served, in these words: the suspicious answer came from another backend.
    case oldIsBack(Identity)
    /// Everybody speaks of one and the same new generation.
    case changed
    /// Each answer speaks of another one.
    case disagreement([Identity])
  }

  /// How many fresh connections have to agree on the new generation.
  static let answersNeeded = 3

  /// The connection slot that asks; one after the other, because a server may serve no more at once.
  let connection: Int
  let change: ResourceChange
  let suspect: Identity
  /// A new connection was turned away while nobody else asked for anything: perhaps the idle ones are too
  /// many already. The next askers use one of those.
  var wasRefused = false
  private var answers: [Identity] = []

  init(connection: Int, change: ResourceChange, suspect: Identity) {
    self.connection = connection
    self.change = change
    self.suspect = suspect
  }

  /// Takes one more answer. Nil while more are needed.
  mutating func heard(_ answer: Identity, isOld: Bool) -> Outcome? {
    if isOld { return .oldIsBack(answer) }
    answers.append(answer)
    guard answers.count >= Self.answersNeeded else { return nil }
    let first = answers[0]
    return answers.allSatisfy { first.change(to: $0) == nil } ? .changed : .disagreement(answers)
  }
}
