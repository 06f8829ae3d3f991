// SPDX-License-Identifier: Apache-2.0

/// Where a download ends, and the two names beside it that are ours while it runs.
package struct Target: Hashable, Sendable {
  package let directory: String
  /// A single path component, judged before: no separator, not `.` or `..`.
  package let name: String

  package init(directory: String, name: String) {
    self.directory = directory.isEmpty ? "." : directory
    self.name = name
  }

  package var partName: String { name + Self.suffixes[0] }
  package var manifestName: String { name + Self.suffixes[1] }

  /// Of the data file and of the manifest.
  package static let suffixes = [".haul-part", ".haul"]
}
