// SPDX-License-Identifier: Apache-2.0

import HaulCore

/// Text from elsewhere, on its way to a terminal.
enum TerminalSafe {
  static func escaped(_ text: String) -> String { TerminalText.escaped(text) }
}
