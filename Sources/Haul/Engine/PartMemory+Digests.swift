// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDisk

/// What an earlier run knew of the file's digest, and what becomes of that.
extension PartMemory {
  /// The digest that the manifest names, where it is one of ours.
  var storedDigest: HaulCore.ExpectedDigest? {
    state.header.expectedDigest.flatMap(HaulCore.ExpectedDigest.init(stored:))
  }

  /// The digest that the user gave to an earlier run, where this one was given none: nobody took it back.
  var remembered: HaulCore.ExpectedDigest? {
    // Who starts over after a mismatch has not taken it back either.
    guard plan.wanted == nil, !isDeclared, !state.flags.contains(.mismatch) || plan.options.overwrites,
      plan.options.serverDigests != .ignored
    else { return nil }
    return storedDigest
  }

  private var isDeclared: Bool { state.header.expectedDigest?.isDeclared == true }

  /// What a person should know of it; nil where nothing has changed.
  /// - Parameter plan: of this run, with what was remembered.
  func digestRemark(plan: DownloadPlan) -> DownloadNotice? {
    // Nobody has to be told of a digest that the server declares.
    guard let earlier = storedDigest, !isDeclared else { return nil }
    guard let wanted = plan.wanted else { return .droppingDigest(Checksum(earlier)) }
    if plan.isWantedFromBefore { return .keepingDigest(Checksum(earlier)) }
    return wanted == earlier ? nil : .replacingDigest(of: Checksum(earlier))
  }
}
