// SPDX-License-Identifier: Apache-2.0

import Haul

extension Report {
  /// What nobody has checked of a file that another program had begun.
  static func unproven(_ result: DownloadResult) -> [String] {
    let unseen = result.adoptedChunks - result.comparedChunks
    guard unseen > 0 else { return [] }
    switch result.digestStatus {
    case .verified, .matchesServer, .matchesWeak: return []
    case .computed, .none:
      return [
        "unproven: \(unseen) of the \(result.adoptedChunks) chunks taken over were not compared with the server; "
          + "check the file against its publisher's digest with haul verify"
      ]
    }
  }
}
