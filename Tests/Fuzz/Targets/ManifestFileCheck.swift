// SPDX-License-Identifier: Apache-2.0

import HaulCore
import HaulDisk
import TestSupport

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Opens a data file whose sidecar is a sound one with changed bytes in it. What is opened must be true to what
/// stands in the files, and what is refused must stay as it was.
struct ManifestFileCheck {
  private static let chunkSize = 4096
  private let input: [UInt8]

  init(_ input: [UInt8]) { self.input = input }

  /// The input: which hashes stay wrong, how much of each file is cut off, and then places with their new bytes.
  func run() throws {
    var reader = InputReader(input)
    let unsealed = reader.byte()
    let dataLength = Int(reader.byte()) * 101
    let cut = Int(reader.byte()) * 256
    let folder = try TemporaryDirectory()
    defer { folder.close() }
    try put([UInt8](repeating: 7, count: dataLength), at: folder.path(of: "f.haul-part"))
    var manifest = try Self.sound(beside: folder.path(of: "f.haul-part"))
    while !reader.rest.isEmpty {
      let offset = Int(reader.byte()) | Int(reader.byte()) << 8
      for (index, byte) in reader.bytes(1 + Int(reader.byte()) % 24).enumerated()
      where offset + index < manifest.count {
        manifest[offset + index] = byte
      }
    }
    Self.seal(&manifest, except: unsealed)
    manifest = manifest.dropLast(cut)
    try put(manifest, at: folder.path(of: "f.haul"))
    try open(folder, manifest: manifest, dataLength: dataLength)
  }

  private func put(_ bytes: [UInt8], at path: String) throws {
    try Files.write(path, length: bytes.count) { $0.copyBytes(from: bytes[$1..<$1 + $0.count]) }
    chmod(path, 0o600)
  }

  private func open(_ folder: TemporaryDirectory, manifest: [UInt8], dataLength: Int) throws {
    let part: PartFile
    do {
      part = try PartFile.open(Target(directory: folder.path, name: "f"), overwrite: false, sync: false)
    } catch {
      try insist(try Files.bytes(of: folder.path(of: "f.haul")) == manifest, "a refused sidecar was changed")
      try insist(Files.size(of: folder.path(of: "f.haul-part")) == dataLength, "a refused part was changed")
      return
    }
    defer { part.close() }
    guard let resume = part.resume else {
      return try insist(part.notice != nil || dataLength == 0, "bytes were thrown away without a word")
    }
    let pages = Array(manifest.prefix(ManifestLayout.headerSize))
    try insist((try? ManifestState.header(in: pages, codec: .xxh3)) == resume.header, "another header")
    try Self.check(resume, dataLength: dataLength)
  }

  private static func check(_ resume: ResumeState, dataLength: Int) throws {
    let grid = resume.header.grid
    try insist(resume.marked.count == grid.count && resume.storedSums.count == grid.count, "another grid")
    for chunk in resume.marked.runs(of: true).joined() {
      try insist(resume.storedSums[chunk] != ChunkSum.none, "chunk \(chunk) is trusted without a sum")
      try insist(grid.range(of: chunk).upper <= dataLength, "chunk \(chunk) is past the end of the data")
    }
    for chunk in resume.rescuable {
      try insist(
        !resume.marked[chunk] && resume.storedSums[chunk] != ChunkSum.none, "chunk \(chunk) for nothing")
      try insist(grid.range(of: chunk).upper <= dataLength, "chunk \(chunk) is past the end of the data")
    }
    for prefix in resume.prefixes {
      let start = grid.range(of: prefix.chunk).lower
      try insist(start + prefix.length <= dataLength, "\(prefix) is past the end of the data")
    }
  }

  // MARK: A sound manifest

  /// Of a file of five chunks and a byte, of which the first two are there.
  private static func sound(beside part: String) throws -> [UInt8] {
    var status = stat()
    try insist(stat(part, &status) == 0, "no data file")
    let grid = ChunkGrid(length: 5 * chunkSize + 1, chunkSize: chunkSize)
    let id = ManifestID(high: 1, low: 2)
    let header = ManifestHeader(
      id: id, created: 1_700_000_000, grid: grid, source: "https://example.org/f",
      validatorKind: .strongETag, validatorHash: [UInt8](repeating: 9, count: 32),
      device: UInt64(bitPattern: Int64(status.st_dev)), inode: UInt64(status.st_ino))
    let layout = ManifestLayout(grid)
    var bytes = [UInt8](repeating: 0, count: layout.totalSize)
    for offset in ManifestLayout.headerOffsets {
      copy(ManifestCodec.xxh3.encode(header), to: offset, in: &bytes)
    }
    for chunk in 0..<3 { bytes[layout.sumOffset(ofChunk: chunk)] = 1 }
    var bitmap = ChunkBitmap(count: grid.count)
    for (index, offset) in layout.slotOffsets.enumerated() {
      bitmap[index] = true
      let slot = ManifestSlot(sequence: UInt64(index + 1), bitmap: bitmap)
      copy(ManifestCodec.xxh3.encode(slot, id: id, grid: grid), to: offset, in: &bytes)
    }
    return bytes
  }

  private static func copy(_ piece: [UInt8], to offset: Int, in bytes: inout [UInt8]) {
    bytes.replaceSubrange(offset..<offset + piece.count, with: piece)
  }

  /// Makes the hashes of both header pages and both slots right, but for those whose bit is set.
  private static func seal(_ bytes: inout [UInt8], except: UInt8) {
    for (index, offset) in ManifestLayout.headerOffsets.enumerated() where except & 1 << UInt8(index) == 0 {
      seal(&bytes, offset..<offset + ManifestLayout.pageSize)
    }
    let pages = Array(bytes.prefix(ManifestLayout.headerSize))
    guard let header = try? ManifestState.header(in: pages, codec: .xxh3) else { return }
    let layout = ManifestLayout(header.grid)
    for (index, offset) in layout.slotOffsets.enumerated() where except & 4 << UInt8(index) == 0 {
      seal(&bytes, offset..<offset + layout.slotSize)
    }
  }

  private static func seal(_ bytes: inout [UInt8], _ range: Range<Int>) {
    guard range.upperBound <= bytes.count else { return }
    var page = Array(bytes[range])
    FuzzTarget.seal(&page)
    bytes.replaceSubrange(range, with: page)
  }
}
