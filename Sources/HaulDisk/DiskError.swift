// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A failed operation on a file: what was done, on which path, why.
package struct DiskError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Kind: Equatable, Sendable {
    /// No room, over quota, or longer than the filesystem allows.
    case noSpace
    /// The name is taken and was to stay untouched.
    case exists
    /// Another open description holds the lock; its process where the system tells.
    case busy(holderProcess: Int32?)
    /// Not a file of ours: a symbolic link, directory, FIFO, hard link, another owner's, or a stranger's
    /// sidecar.
    case foreign
    /// The filesystem is mounted read-only.
    case readOnly
    case permission
    /// There is no such name in a directory that is still there.
    case missing
    /// Something else stands where a directory was to be.
    case notFolder
    /// The directory vanished, or our own name in it.
    case gone
    /// The system or filesystem has no such operation.
    case unsupported
    /// Bytes are missing that were to be there.
    case incomplete
    /// Whoever read our output has closed it.
    case readerGone
    /// A sync failed before: nothing since the last success counts, and nothing more is promised.
    case poisoned
    /// This process, or the system, has no descriptors left.
    case tooManyFiles
    case io
  }

  /// A verb phrase: "create", "sync the data of".
  package let operation: String
  package let path: String
  /// The errno value, or 0 where no system call failed.
  package let code: Int32
  package let kind: Kind
  /// What is wrong with the file where there is no errno to say it. May be empty.
  package let detail: String

  package init(_ operation: String, _ path: String, code: Int32, kind: Kind? = nil, detail: String = "") {
    self.operation = operation
    self.path = path
    self.code = code
    self.kind = kind ?? Self.kind(of: code)
    self.detail = detail
  }

  private static func kind(of code: Int32) -> Kind {
    switch code {
    case ENOSPC, EDQUOT, EFBIG: .noSpace
    case EEXIST: .exists
    case EWOULDBLOCK: .busy(holderProcess: nil)
    case ELOOP, ENOTDIR, EISDIR, ENXIO: .foreign
    case EROFS: .readOnly
    case EACCES, EPERM: .permission
    case ENOENT: .missing
    case ESTALE: .gone
    case EOPNOTSUPP, ENOTSUP, ENOSYS, EINVAL: .unsupported
    case EPIPE: .readerGone
    case EMFILE, ENFILE: .tooManyFiles
    default: .io
    }
  }

  /// Whether room may appear for the same operation: not where the file is longer than the filesystem allows.
  package var mayFindRoom: Bool { kind == .noSpace && code != EFBIG }

  package var description: String {
    let reason =
      switch kind {
      case .busy(getpid()?): "another download of this process is working on it"
      case .busy(let holder?): "another process (\(holder)) is working on it"
      case .busy(nil): "another process is working on it"
      case .poisoned: "an earlier sync failed, so nothing since then counts" + (code == 0 ? "" : " (\(text))")
      case .foreign where detail.isEmpty: "it is not a file of Haul's (\(text))"
      case .gone where detail.isEmpty: "its directory is gone (\(text))"
      default: detail.isEmpty ? text : detail
      }
    return "could not \(operation) \(path): \(reason)"
  }

  /// The system's words for the code. strerror's buffer may be shared, so the text is copied at once.
  private var text: String { String(cString: strerror(code)) }
}
