// SPDX-License-Identifier: Apache-2.0

/// An existing target that is not a regular file: a FIFO, a device, /dev/null, or `-` for standard output.
///
/// Bytes go out in order and cannot be taken back: no manifest, no resume, no lock, nothing to remove.
/// One thread at a time.
package struct StreamFile: Sendable {
  private let disk: any DiskOperations
  private let file: DiskFile

  /// Opens for writing. Blocks on a FIFO until somebody opens it for reading, so not on a thread that others
  /// wait for.
  ///
  /// - Throws: `.missing` where there is nothing, `.foreign` for a regular file or a directory. (`-` may be
  ///   redirected to anything.)
  package static func open(
    _ path: String, disk: any DiskOperations = SystemDisk()
  ) throws(DiskError) -> StreamFile {
    let file = try disk.openStream(path)
    do throws(DiskError) {
      if path != "-", try disk.status(of: file).isRegular {
        throw DiskError("stream to", path, code: 0, kind: .foreign, detail: "it is a regular file")
      }
      return StreamFile(disk: disk, file: file)
    } catch {
      try? disk.close(file)
      throw error
    }
  }

  /// Writes all bytes behind those before. Blocks while the reader is slow.
  /// - Throws: `.readerGone` where nobody reads any more. The process survives that only with SIGPIPE blocked
  ///   or ignored, as on every thread of Haul's own.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(DiskError) {
    var done = 0
    while done < bytes.count {
      let written = try disk.append(UnsafeRawBufferPointer(rebasing: bytes[done...]), to: file)
      guard written > 0 else {
        throw DiskError("write to", file.path, code: 0, kind: .io, detail: "no progress")
      }
      done += written
    }
  }

  /// Closes; the reader sees the end. Errors count as write errors.
  package func close() throws(DiskError) { try disk.close(file) }
}
