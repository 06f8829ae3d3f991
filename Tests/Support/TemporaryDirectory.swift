// SPDX-License-Identifier: Apache-2.0

internal import CPlatform
internal import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A new directory of mode 0700 under `TMPDIR`, or `/tmp` where that is on a disk, or `/var/tmp`; removed with all
/// that is in it by ``close()`` or when the value goes.
package final class TemporaryDirectory: Sendable {
  /// Absolute, without a slash at its end.
  package let path: String
  private let isClosed = Atomic(false)

  package init() throws(TemporaryDirectoryError) {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? usualParent
    var template = Array("\(parent)/haul-test.XXXXXX".utf8CString)
    let isMade = template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) != nil }
    guard isMade else { throw TemporaryDirectoryError(parent: parent, code: errno) }
    path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  deinit {
    close()
  }

  /// The path of `name` inside.
  package func path(of name: String) -> String { "\(path)/\(name)" }

  /// Removes the directory. A second call does nothing.
  package func close() {
    guard !isClosed.exchange(true, ordering: .relaxed) else { return }
    Self.remove(path)
  }

  /// Removes what is at `path`; a link itself, never what it points to.
  private static func remove(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      unlink(path)
      return
    }
    // A test may have closed it to itself.
    chmod(path, 0o700)
    for name in Files.names(in: path) { remove("\(path)/\(name)") }
    rmdir(path)
  }
}

/// The directory could not be made in `parent`; `code` is an errno value.
package struct TemporaryDirectoryError: Error {
  package let parent: String
  package let code: Int32
}

/// Where `/tmp` lives in memory, a download into it says that nothing there is durable, which is not what most tests
/// are about.
private let usualParent: String = {
  let descriptor = open("/tmp", O_RDONLY | O_CLOEXEC)
  defer { close(descriptor) }
  let tmpfs: UInt64 = 0x0102_1994
  return descriptor >= 0 && haul_filesystem_magic(descriptor) == tmpfs ? "/var/tmp" : "/tmp"
}()
