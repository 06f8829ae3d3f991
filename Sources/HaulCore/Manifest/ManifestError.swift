// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not a manifest that this version can use.
package enum ManifestError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The magic is missing: somebody else's file. It must not be changed or deleted.
  case notOurs
  /// Ours, but in a format of a later version of Haul.
  case newerVersion(UInt32)
  /// Ours, but torn, rotted or forged. The reason is for people and holds no bytes of the file.
  case damaged(String)

  package var description: String {
    switch self {
    case .notOurs: "not a manifest of Haul"
    case .newerVersion(let version): "a manifest of a newer Haul (format \(version))"
    case .damaged(let reason): "a damaged manifest (\(reason))"
    }
  }
}
