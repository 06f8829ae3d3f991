// SPDX-License-Identifier: Apache-2.0

/// The version of the library and of the command, in one place.
///
/// `make package` and `make lint` read the line below as text, so it stays one plain string literal.
public enum HaulVersion {
  /// The version, as Semantic Versioning writes it, without a leading `v`.
  public static let current = "0.1.0"
}
