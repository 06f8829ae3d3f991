// SPDX-License-Identifier: Apache-2.0

import HaulOrigin

/// Something that servers on the net were seen to do, and the case that shows it.
struct Quirk: Sendable {
  enum Shown: Sendable {
    /// By cases of the catalogue, which send the same bytes.
    case like([String])
    /// By a case of its own.
    case own(CatalogueCase)
    /// Not over plain HTTP/1.1, for this reason.
    case elsewhere(String)
  }

  let number: Int
  let shown: Shown

  var ownCase: CatalogueCase? { if case .own(let subject) = shown { subject } else { nil } }

  static func like(_ number: Int, _ ids: String...) -> Quirk { Quirk(number: number, shown: .like(ids)) }

  static func own(_ subject: CatalogueCase) -> Quirk {
    Quirk(number: Int(subject.id.dropFirst().prefix { $0.isNumber }) ?? 0, shown: .own(subject))
  }
}
