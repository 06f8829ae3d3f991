// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Haul
import HaulCore

/// `--checksum ALGORITHM:HEX`, `--checksum auto`, `--checksum none`.
enum ChecksumArgument {
  case given(Checksum)
  case automatic
  case ignored

  init(_ text: String) throws {
    switch text {
    case "auto": self = .automatic
    case "none": self = .ignored
    default:
      do throws(DigestProblem) {
        self = .given(Checksum(try ExpectedDigest(text: text)))
      } catch {
        throw ValidationError(
          "--checksum \(TerminalSafe.escaped(text)): \(TerminalSafe.escaped("\(error)")).")
      }
    }
  }

  var checksum: Checksum? {
    if case .given(let checksum) = self { return checksum }
    return nil
  }

  var serverDigests: DownloadOptions.ServerDigests {
    switch self {
    case .given: .automatic
    case .automatic: .used
    case .ignored: .ignored
    }
  }
}
