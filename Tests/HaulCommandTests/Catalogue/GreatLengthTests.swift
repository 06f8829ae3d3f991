// SPDX-License-Identifier: Apache-2.0

import HaulCore
import HaulDigest
import HaulDisk
import HaulOrigin
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Case 27 where lengths and offsets stop fitting into 31 or 32 bits, without moving gigabytes: an earlier run is
/// made up that has everything but the chunks around the offsets that matter, and the real command completes it.
@Suite(.timeLimit(.minutes(5)))
struct GreatLengthTests {
  private static let chunk = 1 << 20
  private static let edges = [1 << 31, 1 << 32]

  struct Unwritable: Error {}

  @Test(
    "the chunks on both sides of 2 and 4 GiB land where they belong, and the file has its length to the byte",
    arguments: edges.flatMap { [$0 - 1, $0 + 1] })
  func length(_ length: Int) async throws {
    let missing = Self.missing(length)
    let (arena, ended) = try await Turns.take {
      let arena = try Arena(["/f": .reference(seed: 1, length: length)])
      try Self.makeUpPart(of: length, without: missing, arena)
      return (arena, try arena.run("/f", "-c", "4", "--no-digest", "--no-sync"))
    }
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(arena.names == ["f"] && Files.size(of: arena.folder.path(of: "f")) == length)
    let wanted = missing.map { Self.range($0, length) }
    let content = ReferenceContent(seed: 1, length: length)
    for range in wanted {
      #expect(try Self.bytes(range, arena) == content.bytes(in: range), "\(range)")
      // Nothing went anywhere else.
      for neighbour in [range.lowerBound - 1, range.upperBound] where neighbour < length && neighbour > 0 {
        guard !wanted.contains(where: { $0.contains(neighbour) }) else { continue }
        #expect(try Self.bytes(neighbour..<neighbour + 1, arena) == [0])
      }
    }
    let asked = arena.origin.journal().requested(from: 0, length: length)
    #expect(asked.reduce(0) { $0 + $1.count } == wanted.reduce(0) { $0 + $1.count }, "only what was missing")
  }

  /// The first chunk, the last one, and the two around each edge.
  private static func missing(_ length: Int) -> [Int] {
    let last = (length - 1) / chunk
    let around = edges.flatMap { [$0 / chunk - 1, $0 / chunk] }
    return Set([0, last] + around.filter { $0 <= last }).sorted()
  }

  private static func range(_ index: Int, _ length: Int) -> Range<Int> {
    index * chunk..<min(length, (index + 1) * chunk)
  }

  private static func bytes(_ range: Range<Int>, _ arena: Arena) throws -> [UInt8] {
    let descriptor = open(arena.folder.path(of: "f"), O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 1, count: range.count)
    guard pread(descriptor, &bytes, bytes.count, off_t(range.lowerBound)) == bytes.count else {
      throw Unwritable()
    }
    return bytes
  }

  /// A part of holes, and the account of an earlier run by which all but `missing` is there.
  private static func makeUpPart(of length: Int, without missing: [Int], _ arena: Arena) throws {
    let part = open(arena.folder.path(of: "f.haul-part"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    defer { close(part) }
    var status = stat()
    guard ftruncate(part, off_t(length)) == 0, fstat(part, &status) == 0 else { throw Unwritable() }
    let grid = ChunkGrid(length: length, chunkSize: chunk)
    let tag = try #require(OriginResource.reference(seed: 1, length: length).etag)
    let header = ManifestHeader(
      id: ManifestID(high: 1, low: 2), created: 0, grid: grid, source: arena.origin.url("/f"),
      validatorKind: .strongETag, validatorHash: Digest.sha256(of: Array(tag.utf8)),
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    var bitmap = ChunkBitmap(count: grid.count)
    for index in 0..<grid.count where !missing.contains(index) { bitmap[index] = true }
    let layout = ManifestLayout(grid)
    let codec = ManifestCodec.xxh3
    // What is marked is read back, and reads as zeros.
    let zeros = [UInt8](repeating: 0, count: chunk)
    var sums: [UInt8] = []
    for index in 0..<grid.count {
      let sum = HaulDigest.ChunkSum(seed: header.id.seed(forChunk: index))
      zeros.withUnsafeBytes { sum.update($0) }
      let value = bitmap[index] ? sum.value : 0
      for shift in stride(from: 0, to: 64, by: 8) {
        sums.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
      }
    }
    let manifest = open(arena.folder.path(of: "f.haul"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    defer { close(manifest) }
    guard ftruncate(manifest, off_t(layout.totalSize)) == 0 else { throw Unwritable() }
    let slot = codec.encode(ManifestSlot(sequence: 1, bitmap: bitmap), id: header.id, grid: grid)
    let pieces =
      ManifestLayout.headerOffsets.map { ($0, codec.encode(header)) }
      + [(layout.sumsOffset, sums), (layout.slotOffsets[0], slot)]
    for (offset, bytes) in pieces {
      guard pwrite(manifest, bytes, bytes.count, off_t(offset)) == bytes.count else { throw Unwritable() }
    }
  }
}
