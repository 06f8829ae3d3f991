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

  package var partName: String { name + ".haul-part" }
  package var manifestName: String { name + ".haul" }
}
