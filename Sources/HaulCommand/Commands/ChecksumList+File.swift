// SPDX-License-Identifier: Apache-2.0

import Haul
import HaulCore

extension ChecksumList {
  /// The digest of a file that is there, by the last component of its path.
  func digest(ofFile path: String) throws(DownloadError) -> ExpectedDigest {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    do throws(ChecksumFileProblem) {
      return try list.digest(of: name)
    } catch {
      throw DownloadError(
        .invalidRequest, "the checksum file \(place): \(error)", advice: "give the digest with --checksum")
    }
  }
}
