// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A small filesystem of its own in a file, mounted on a loop device: a real disk that a test may fill. Linux
/// and root only. Unmounted and removed by ``close()``, or when the value goes.
package final class LoopFilesystem: Sendable {
  /// Where it is mounted.
  package let path: String
  private let folder: TemporaryDirectory

  /// Whether there can be one here; found out by making one.
  package static let isPossible: Bool = {
    guard geteuid() == 0, let made = try? LoopFilesystem(kind: "ext2", mebibytes: 2) else { return false }
    made.close()
    return true
  }()

  /// - Parameter kind: what `mkfs` makes. An ext2 cannot set room aside (fallocate), an ext4 can.
  package init(kind: String, mebibytes: Int) throws {
    folder = try TemporaryDirectory()
    let image = folder.path(of: "image")
    path = folder.path(of: "mount")
    mkdir(path, 0o755)
    try Self.run("truncate", "-s", "\(mebibytes)M", image)
    try Self.run("mkfs.\(kind)", "-q", "-F", image)
    try Self.run("mount", "-o", "loop", image, path)
  }

  deinit { close() }

  package func path(of name: String) -> String { "\(path)/\(name)" }

  /// Takes all the room that is left, in a file of this name.
  package func fill(_ name: String) {
    let file = open(path(of: name), O_WRONLY | O_CREAT, 0o600)
    defer { closeDescriptor(file) }
    let block = [UInt8](repeating: 0x55, count: 1 << 16)
    var count = block.count
    while count > 0 {
      if block.withUnsafeBytes({ write(file, $0.baseAddress, count) }) <= 0 { count /= 2 }
    }
  }

  package func close() {
    try? Self.run("umount", path)
    folder.close()
  }

  private static func run(_ words: String...) throws {
    let ended = try ChildProcess.run(
      "/usr/bin/env", words, environment: ["PATH": "/usr/sbin:/sbin:/usr/bin:/bin"])
    guard ended.end == .exit(0) else { throw LoopFilesystemError(command: words, output: ended.errors) }
  }
}

package struct LoopFilesystemError: Error {
  package let command: [String]
  package let output: String
}

/// `close` of the system, which a method of that name hides.
private func closeDescriptor(_ file: Int32) { close(file) }
