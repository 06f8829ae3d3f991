// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDigest
internal import HaulDisk

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Where the bytes of a download go, once it is open.
enum OpenedOutput: Sendable {
  case part(PartFile)
  /// A FIFO, a device or `/dev/null`.
  case stream(StreamSink)
  /// The final file is there and has the digest that was given. Its length in bytes.
  case complete(length: Int, DigestSet)

  var isStream: Bool {
    if case .stream = self { return true }
    return false
  }

  var snapshot: PartSnapshot {
    switch self {
    case .part(let part): part.snapshot()
    case .stream(let sink): sink.snapshot
    case .complete: PartSnapshot()
    }
  }
}

/// Opens the output of a download. Blocks as long as the filesystem does: not for the engine's thread.
struct OutputOpener: Sendable {
  let plan: DownloadPlan
  let name: String
  let disk: any DiskOperations

  private var target: Target { Target(directory: plan.directory, name: name) }
  private var path: String { plan.pathText(name: name) }

  /// Opening a FIFO waits until somebody reads from it.
  var mayWait: Bool { kind == S_IFIFO && isStream }

  /// Whether a file stands under the final name that may be the wanted one.
  var mayBeComplete: Bool { kind == S_IFREG && !plan.options.overwrites }

  /// The kind bits of what stands under the final name; nil where there is nothing. What the user has named may be
  /// a link (`/dev/stdout` is one), but not one that another user has put there.
  private var kind: mode_t? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    let mayFollow = plan.isNamedByUser && (status.st_uid == geteuid() || status.st_uid == 0)
    if status.st_mode & S_IFMT == S_IFLNK, mayFollow, stat(path, &status) != 0 { return nil }
    return status.st_mode & S_IFMT
  }

  /// Whether the bytes go out in order. Only to what the user has named: a FIFO that waits under a name that came
  /// from a URL or a server is somebody's trap.
  private var isStream: Bool {
    guard plan.isNamedByUser, let kind else { return false }
    return [S_IFIFO, S_IFCHR, S_IFBLK, S_IFSOCK].contains(kind)
  }

  func open() -> Result<OpenedOutput, DownloadError> {
    do {
      if isStream {
        return .success(.stream(try StreamSink(path: path, disk: disk)))
      }
      if kind == S_IFDIR {
        return .failure(
          DownloadError(
            .exists, "\(path) is a folder", advice: "name a file in it, or give the folder with -d"))
      }
      let part = try PartFile.open(
        target, overwrite: plan.options.overwrites, sync: plan.options.isDurable, disk: disk)
      return .success(.part(part))
    } catch let error as DiskError {
      return .failure(failure(error))
    } catch {
      return .failure(DownloadError(.other, "\(error)"))
    }
  }

  /// Where a part is there that could not be opened, whoever waits for it wants to know that it was not touched.
  private func failure(_ error: DiskError) -> DownloadError {
    var failure = DownloadError(error, kept: nil)
    let part = path + ".haul-part"
    var status = stat()
    if failure.code == .disk || failure.code == .other, lstat(part, &status) == 0, status.st_size > 0 {
      failure.advice = "\(part) is left as it was" + (failure.advice.map { "; \($0)" } ?? "")
    }
    return failure
  }

  /// Compares the file that is there with the digest that it should have, before it is called in the way.
  func openOrVerify(_ wanted: ExpectedDigest) -> Result<OpenedOutput, DownloadError> {
    var algorithms: Set = [wanted.algorithm]
    if plan.options.computesDigest { algorithms.insert(.sha256) }
    let present: (length: Int, digests: DigestSet)
    do {
      present = try FileDigest.compute(algorithms, ofFileAt: path)
    } catch {
      return open()
    }
    let found = present.digests[wanted.algorithm] ?? []
    if found == wanted.bytes {
      // It may have been killed right behind the rename.
      PartFile.settle(target, sync: plan.options.isDurable, disk: disk)
      return .success(.complete(length: present.length, present.digests))
    }
    return .failure(
      DownloadError(
        .exists, "\(path) exists and has another \(wanted.algorithm.name) (\(HexDigest(bytes: found).hex))",
        advice: "nothing was touched; choose another name with -o, or replace it with --overwrite"))
  }
}
