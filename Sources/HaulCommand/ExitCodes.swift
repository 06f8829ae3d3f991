// SPDX-License-Identifier: Apache-2.0

import Haul

/// What the command tells the shell. Documented in README; stable.
enum ExitStatus {
  static let interrupted: Int32 = 130
  static let terminated: Int32 = 143

  /// 0 done, 1 other, 10 network, 11 server refused, 12 changed on the server, 13 digest mismatch, 14 disk,
  /// 15 target busy, 16 target exists or occupied, 17 server broke the protocol, 64 usage.
  static func of(_ code: DownloadError.Code) -> Int32 {
    switch code {
    case .network: 10
    case .refused: 11
    case .changed: 12
    case .digestMismatch: 13
    case .disk: 14
    case .busy: 15
    case .exists, .occupied: 16
    case .brokenProtocol: 17
    case .invalidRequest: 64
    case .interrupted: interrupted
    default: 1
    }
  }
}
