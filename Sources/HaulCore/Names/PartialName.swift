// SPDX-License-Identifier: Apache-2.0

/// How other programs call a file that is not complete.
package enum PartialName {
  private static let suffixes = [
    ".part", ".partial", ".crdownload", ".opdownload", ".download", ".filepart",
  ]

  /// The name that the finished file is to have, or nil where the partial's does not tell it.
  package static func finished(_ name: String) -> String? {
    // Chrome's name while nobody has said where it is to go.
    if name.hasPrefix("Unconfirmed "), name.hasSuffix(".crdownload") { return nil }
    for suffix in suffixes where name.utf8.count > suffix.utf8.count && name.hasSuffix(suffix) {
      return String(decoding: name.utf8.dropLast(suffix.utf8.count), as: UTF8.self)
    }
    return name
  }
}
