// SPDX-License-Identifier: Apache-2.0

/// Reads Linux's /proc/locks: `1: FLOCK  ADVISORY  WRITE 5897 fe:00:16220361 0 EOF`.
enum ProcLocks {
  /// The process that holds the flock of a file. Waiting ones (`->`) do not hold it, and a lock without a
  /// process shows -1.
  static func holder(in text: String, of status: FileStatus) -> Int32? {
    var byInode: Int32?
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ", omittingEmptySubsequences: true)
      guard words.count >= 6, words[1] == "FLOCK", let process = Int32(words[4]), process > 0 else {
        continue
      }
      let place = words[5].split(separator: ":")
      guard place.count == 3, UInt64(place[2]) == status.inode else { continue }
      if UInt64(place[0], radix: 16) == major(status.device),
        UInt64(place[1], radix: 16) == minor(status.device)
      {
        return process
      }
      // Btrfs and overlays show another device here than in stat(2): the inode alone is then the best there
      // is.
      byInode = byInode ?? process
    }
    return byInode
  }

  // The C macros are not imported; this is glibc's layout of dev_t.
  private static func major(_ device: UInt64) -> UInt64 {
    (device >> 8) & 0xfff | (device >> 32) & ~0xfff
  }

  private static func minor(_ device: UInt64) -> UInt64 {
    device & 0xff | (device >> 12) & ~0xff & 0xffff_ffff
  }
}
