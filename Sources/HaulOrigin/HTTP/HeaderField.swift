// SPDX-License-Identifier: Apache-2.0

/// One header field as received or to be sent; order and spelling are kept.
package struct HeaderField: Sendable, Hashable {
  package var name: String
  package var value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

extension [HeaderField] {
  /// The first value under a name, whatever its case.
  package subscript(name: String) -> String? {
    let wanted = name.lowercased()
    return first { $0.name.lowercased() == wanted }?.value
  }

  /// Removes all fields of a name and, unless `value` is nil, appends one.
  mutating func set(_ name: String, _ value: String?) {
    replace(name, with: value.map { [$0] } ?? [])
  }

  /// Removes all fields of a name and appends these.
  mutating func replace(_ name: String, with values: [String]) {
    let wanted = name.lowercased()
    removeAll { $0.name.lowercased() == wanted }
    for value in values { append(HeaderField(name, value)) }
  }
}
