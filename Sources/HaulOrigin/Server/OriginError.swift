// SPDX-License-Identifier: Apache-2.0

/// A system call that failed while the origin was starting.
package struct OriginError: Error, Equatable, CustomStringConvertible {
  package let operation: String
  /// The errno value.
  package let code: Int32

  package var description: String { "origin: \(operation) failed with errno \(code)" }
}
