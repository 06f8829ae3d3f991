// SPDX-License-Identifier: Apache-2.0

/// One field of a header section, as it came: the name's case is kept.
package struct HeaderField: Equatable, Sendable {
  package var name: String
  package var value: String

  package init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}
