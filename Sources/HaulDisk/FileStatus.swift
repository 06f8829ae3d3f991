// SPDX-License-Identifier: Apache-2.0

/// An open file or directory, with the path that errors name. Copies share the descriptor; one owner closes
/// it.
package struct DiskFile: Equatable, Sendable {
  package let descriptor: Int32
  package let path: String

  package init(descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }
}

/// What stat(2) says, as far as it matters here.
package struct FileStatus: Equatable, Sendable {
  package var device: UInt64
  package var inode: UInt64
  /// In bytes.
  package var size: Int
  /// The bytes that the filesystem has set aside, holes not counted.
  package var allocated: Int
  /// Permission bits only, as in chmod(2).
  package var mode: UInt32
  package var links: Int
  package var owner: UInt32
  package var isRegular: Bool
  /// A symbolic link itself, not what it leads to.
  package var isLink: Bool
  /// Seconds since 1970.
  package var modified: Int

  package init(
    device: UInt64, inode: UInt64, size: Int, allocated: Int = 0, mode: UInt32 = 0o600, links: Int = 1,
    owner: UInt32, isRegular: Bool = true, isLink: Bool = false, modified: Int = 0
  ) {
    self.device = device
    self.inode = inode
    self.size = size
    self.allocated = allocated
    self.mode = mode
    self.links = links
    self.owner = owner
    self.isRegular = isRegular
    self.isLink = isLink
    self.modified = modified
  }

  /// True where both name one file.
  package func isSameFile(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }
}
