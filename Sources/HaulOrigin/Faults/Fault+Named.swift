// SPDX-License-Identifier: Apache-2.0

/// Faults that are a common use of a more general one.
extension Fault {
  // Content-Range

  package static var missingContentRange: Fault { .contentRange { _, _ in [] } }

  /// A wrong total; nil for `*`.
  package static func wrongTotal(_ total: Int?) -> Fault {
    let shown = total.map(String.init) ?? "*"
    return .contentRange { range, _ in ["bytes \(range.lowerBound)-\(range.upperBound - 1)/\(shown)"] }
  }

  /// The right numbers behind another word than `bytes` and the blank, such as `items ` or `bytes=`.
  package static func contentRange(after word: String) -> Fault {
    .contentRange { range, length in ["\(word)\(range.lowerBound)-\(range.upperBound - 1)/\(length)"] }
  }

  /// The same text in every answer.
  package static func contentRanges(_ values: String...) -> Fault { .contentRange { _, _ in values } }

  // Content-Length

  /// So many bytes more (or fewer) than the body has.
  package static func wrongContentLength(by distance: Int) -> Fault {
    .contentLength { ["\($0 + distance)"] }
  }

  /// The same text in every answer.
  package static func contentLengths(_ values: String...) -> Fault { .contentLength { _ in values } }
}
