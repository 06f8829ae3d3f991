// SPDX-License-Identifier: Apache-2.0

import Foundation
import HaulCore
import HaulDisk

/// A temporary folder with one target in it, and a recording disk; removed with the last reference.
final class Workshop: Sendable {
  static let chunkSize = 4096

  let folder: String
  let disk = RecordingDisk()
  var target: Target { Target(directory: folder, name: "file.bin") }

  init() throws {
    folder = FileManager.default.temporaryDirectory.path + "/haul-disk-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  var finalPath: String { folder + "/file.bin" }
  var partPath: String { folder + "/file.bin.haul-part" }
  var manifestPath: String { folder + "/file.bin.haul" }

  func contents(_ path: String) -> [UInt8]? { FileManager.default.contents(atPath: path).map { [UInt8]($0) } }
  func put(_ bytes: [UInt8], at path: String, mode: Int = 0o600) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }
  /// Changes some bytes of an existing file in place.
  func patch(_ path: String, at offset: Int, with bytes: [UInt8]) throws {
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try handle.seek(toOffset: UInt64(offset))
    try handle.write(contentsOf: Data(bytes))
    try handle.close()
  }
  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted() }

  func open(overwrite: Bool = false, sync: Bool = true) throws(DiskError) -> PartFile {
    try PartFile.open(target, overwrite: overwrite, sync: sync, disk: disk)
  }

  /// Opens, begins an empty generation of `content`'s length, and reserves.
  func start(_ content: [UInt8], id: UInt64 = 7, sync: Bool = true) throws(DiskError) -> PartFile {
    let part = try open(sync: sync)
    let header = Self.header(length: content.count, id: id)
    try part.begin(grid: header.grid, header: header, adopt: false)
    try part.reserve()
    return part
  }

  static func header(length: Int, id: UInt64 = 7) -> ManifestHeader {
    ManifestHeader(
      id: ManifestID(high: 1, low: id), created: 1_700_000_000,
      grid: ChunkGrid(length: length, chunkSize: chunkSize), source: "https://example.org/file.bin",
      validatorKind: .strongETag, validatorHash: [UInt8](repeating: 9, count: 32))
  }

  /// Bytes that differ from chunk to chunk.
  static func content(_ length: Int, salt: UInt64 = 1) -> [UInt8] {
    var state = salt &* 0x9E37_79B9_7F4A_7C15 | 1
    return (0..<length).map { _ in
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return UInt8(truncatingIfNeeded: state >> 32)
    }
  }
}

extension PartFile {
  /// Writes a range of the reference content.
  func put(_ content: [UInt8], _ range: Range<Int>, generation: Int = 0) throws(DiskError) {
    let piece = Array(content[range])
    try piece.withUnsafeBufferPointer { (buffer) throws(DiskError) in
      try write(UnsafeRawBufferPointer(buffer), at: range.lowerBound, generation: generation)
    }
  }

  /// Writes whole chunks of the reference content.
  func put(_ content: [UInt8], chunks: [Int], generation: Int = 0) throws(DiskError) {
    for chunk in chunks {
      let start = chunk * Workshop.chunkSize
      try put(content, start..<min(start + Workshop.chunkSize, content.count), generation: generation)
    }
  }
}

/// The kind of the error that `body` throws, or nil.
func kind(_ body: () throws(DiskError) -> Void) -> DiskError.Kind? {
  do throws(DiskError) {
    try body()
    return nil
  } catch {
    return error.kind
  }
}

/// What a refused open says about a lock of this process: only Linux tells the holder.
var lockHolderShown: Int32? {
  #if canImport(Glibc)
  getpid()
  #else
  nil
  #endif
}
