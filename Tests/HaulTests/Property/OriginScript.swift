// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport

/// How the origin of one seed behaves, and which files may come of it.
struct OriginScript: Sendable {
  /// What a client may expect.
  enum Temper: String, CaseIterable, Sendable {
    /// Legal HTTP, one file, troubles that end: the file must come.
    case still
    /// Legal HTTP, but another file is there from some request on: one of them, or an error.
    case changing
    /// Anything but lies: one of its files, or an error.
    case hostile
    /// Right heads over wrong bytes, or a wrong length that every head repeats: without a digest nobody can know.
    case lying
  }

  let temper: Temper
  /// What is at `/f` and, for redirects, at `/g`.
  let resource: OriginResource
  let configuration: OriginConfiguration
  /// All that may be under the final name at the end. The first is the one that the digest is of.
  let files: [ReferenceContent]
  /// Each of them as a server that means well has it.
  let clean: [OriginResource]
  /// A page in place of the file; it is what the server says is there.
  let page: String?
  /// For a failure's message.
  let notes: [String]

  init(_ dice: inout SeededGenerator) {
    temper = [.still, .still, .changing, .hostile, .hostile, .lying].randomElement(using: &dice) ?? .still
    var builder = OriginScriptBuilder(temper: temper, dice: dice)
    builder.build()
    dice = builder.dice
    resource = builder.resource
    configuration = builder.configuration
    files = builder.files
    clean = builder.clean
    page = builder.page
    notes = builder.notes
  }
}
