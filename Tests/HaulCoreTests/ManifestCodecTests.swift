// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

@testable import HaulCore

/// FNV-1a, 64 bits: any hash will do here; that the real one is XXH3-64 is shown where the format's dump is.
private let codec = ManifestCodec { bytes in
  bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
}

private let grid = ChunkGrid(length: 5 * 4096 + 1, chunkSize: 4096)

private func sampleHeader(
  source: String = "https://example.org/a/b.iso", grid: ChunkGrid = grid
) -> ManifestHeader {
  ManifestHeader(
    id: ManifestID(high: 0x0123_4567_89ab_cdef, low: 0xfedc_ba98_7654_3210), created: 1_700_000_000,
    grid: grid, source: source, validatorKind: .lastModified,
    validatorHash: (0..<32).map { UInt8($0) },
    expectedDigest: ManifestHeader.ExpectedDigest(algorithm: 2, bytes: [UInt8](repeating: 0xaa, count: 64)),
    device: 0xfe00, inode: .max)
}

private func sampleSlot(_ sequence: UInt64, _ chunks: [Int] = [0, 3]) -> ManifestSlot {
  var bitmap = ChunkBitmap(count: grid.count)
  for chunk in chunks { bitmap[chunk] = true }
  return ManifestSlot(sequence: sequence, bitmap: bitmap)
}

private let id = sampleHeader().id

private func resealed(_ bytes: [UInt8], _ change: (inout [UInt8]) -> Void) -> [UInt8] {
  var bytes = bytes
  change(&bytes)
  codec.seal(&bytes)
  return bytes
}

/// What decoding throws, or nil.
private func headerError(_ page: [UInt8]) -> ManifestError? {
  do throws(ManifestError) {
    _ = try codec.decodeHeader(page)
    return nil
  } catch { return error }
}

private func slotError(_ bytes: [UInt8]) -> ManifestError? {
  do throws(ManifestError) {
    _ = try codec.decodeSlot(bytes, id: id, grid: grid)
    return nil
  } catch { return error }
}

private func isDamage(_ error: ManifestError?) -> Bool {
  if case .damaged = error { true } else { false }
}

@Suite struct ManifestCodecTests {
  @Test(arguments: [0, 1, 4096, 4097, 1 << 40, (1 << 62) - 5, 1 << 62])
  func `a header comes back as it went`(_ length: Int) throws {
    let header = sampleHeader(grid: ChunkGrid(length: length))
    let page = codec.encode(header)
    #expect(page.count == 4096)
    #expect(try codec.decodeHeader(page) == header)
  }

  @Test func `a header without validator and digest comes back as it went`() throws {
    let header = ManifestHeader(id: id, created: -1, grid: grid, source: "")
    #expect(try codec.decodeHeader(codec.encode(header)) == header)
  }

  @Test(arguments: [
    "https://example.org/" + String(repeating: "é", count: 1100), "https://example.org/\u{1b}[2J",
    "https://example.org/\u{9b}2J",
  ])
  func `a source that is too long or would move a terminal's cursor is stored as a hash`(_ source: String) {
    let stored = ManifestHeader.storable(source: source) { _ in [0x0f, 0xa0] }
    #expect(stored == "sha256:0fa0")
    #expect(ManifestHeader(id: id, created: 0, grid: grid, source: source).source == "")
    #expect(ManifestHeader.storable(source: "https://a/b") { _ in [] } == "https://a/b")
  }

  @Test func `the longest source fits`() throws {
    let header = sampleHeader(source: String(repeating: "x", count: 2048))
    #expect(try codec.decodeHeader(codec.encode(header)).source.utf8.count == 2048)
  }

  @Test func `foreign, newer and cut-off pages are told apart`() {
    let page = codec.encode(sampleHeader())
    #expect(headerError([]) == .notOurs)
    #expect(headerError([UInt8](repeating: 0, count: 4096)) == .notOurs)
    #expect(headerError(resealed(page) { $0[0] = 0 }) == .notOurs)
    var newer = page
    newer[8] = 2
    #expect(headerError(newer) == .newerVersion(2), "even where its hash is elsewhere")
    #expect(isDamage(headerError(Array(page.prefix(4095)))))
    #expect(isDamage(headerError(Array(page.prefix(8)))))
  }

  @Test func `every flipped bit of a header is noticed`() {
    let page = codec.encode(sampleHeader())
    for offset in stride(from: 0, to: page.count, by: 7) {
      var bad = page
      bad[offset] ^= 1 << UInt8(offset % 8)
      #expect(headerError(bad) != nil, "byte \(offset)")
    }
  }

  struct Lie: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let offset: Int
    let bytes: [UInt8]
  }

  static let ones = [UInt8](repeating: 0xff, count: 8)

  @Test(arguments: [
    Lie(testDescription: "length 2^64-1", offset: 40, bytes: ones),
    Lie(testDescription: "length 2^63-1", offset: 40, bytes: ones.dropLast() + [0x7f]),
    Lie(testDescription: "chunk size 0", offset: 48, bytes: [0, 0]),
    Lie(testDescription: "chunk size 1", offset: 48, bytes: [1, 0]),
    Lie(testDescription: "chunk size no power of two", offset: 48, bytes: [1, 16]),
    Lie(testDescription: "chunk size 2^63", offset: 48, bytes: [0, 0, 0, 0, 0, 0, 0, 0x80]),
    Lie(testDescription: "chunk count 7", offset: 56, bytes: [7]),
    Lie(testDescription: "chunk count 2^64-1", offset: 56, bytes: ones),
    Lie(testDescription: "2^50 chunks", offset: 40, bytes: [0, 0, 0, 0, 0, 0, 0, 0x40]),
    Lie(testDescription: "validator kind 3", offset: 80, bytes: [3]),
    Lie(testDescription: "a validator's hash without a validator", offset: 80, bytes: [0]),
    Lie(testDescription: "digest of 65 bytes", offset: 82, bytes: [65]),
    Lie(testDescription: "digest of 0 bytes", offset: 82, bytes: [0]),
    Lie(testDescription: "source of 2^32-1 bytes", offset: 84, bytes: [0xff, 0xff, 0xff, 0xff]),
    Lie(testDescription: "source not UTF-8", offset: 192, bytes: [0xff]),
    Lie(testDescription: "source with an escape", offset: 192, bytes: [0x1b]),
    Lie(testDescription: "bytes behind the source", offset: 4000, bytes: [1]),
    Lie(testDescription: "reserved bytes", offset: 83, bytes: [1]),
    Lie(testDescription: "version 0", offset: 8, bytes: [0]),
  ])
  func `a header that lies under a good hash is refused`(_ lie: Lie) {
    #expect(
      isDamage(headerError(resealed(codec.encode(sampleHeader())) { $0.put(lie.bytes, at: lie.offset) })))
  }

  @Test func `a slot comes back as it went`() throws {
    var slot = sampleSlot(41)
    slot.flags = [.cleanStop, .mismatch]
    slot.prefixes = [
      ManifestSlot.WrittenPrefix(chunk: 1, length: 4095, sum: 3),
      ManifestSlot.WrittenPrefix(chunk: 4, length: 1, sum: .max),
    ]
    let bytes = codec.encode(slot, id: id, grid: grid)
    #expect(bytes.count % 4096 == 0)
    #expect(try codec.decodeSlot(bytes, id: id, grid: grid) == slot)
  }

  @Test func `prefixes are left out without a clean stop, and past the 512th`() throws {
    let many = ChunkGrid(length: 600 * 4096, chunkSize: 4096)
    var slot = ManifestSlot(sequence: 1, bitmap: ChunkBitmap(count: 600))
    slot.prefixes = (0..<600).map { ManifestSlot.WrittenPrefix(chunk: $0, length: 9, sum: 1) }
    let plain = try codec.decodeSlot(codec.encode(slot, id: id, grid: many), id: id, grid: many)
    #expect(plain.prefixes.isEmpty)
    slot.flags = .cleanStop
    let stopped = try codec.decodeSlot(codec.encode(slot, id: id, grid: many), id: id, grid: many)
    #expect(stopped.prefixes == Array(slot.prefixes.prefix(512)))
  }

  @Test(arguments: [
    Lie(testDescription: "sequence 0", offset: 24, bytes: [0]),
    Lie(testDescription: "sequence 2^64-1", offset: 24, bytes: ones),
    Lie(testDescription: "an unknown flag", offset: 32, bytes: [0x10]),
    Lie(testDescription: "2^32-1 prefixes", offset: 36, bytes: [0xff, 0xff, 0xff, 0xff]),
    Lie(testDescription: "513 prefixes", offset: 36, bytes: [1, 2]),
    Lie(testDescription: "a bitmap of 2^64-1 words", offset: 40, bytes: ones),
    Lie(testDescription: "reserved bytes", offset: 48, bytes: [1]),
    Lie(testDescription: "prefix of chunk 2^64-1", offset: 64, bytes: ones),
    Lie(testDescription: "prefix of a chunk past the end", offset: 64, bytes: [6]),
    Lie(testDescription: "prefix of a marked chunk", offset: 64, bytes: [0]),
    Lie(testDescription: "prefix of length 0", offset: 72, bytes: [0, 0]),
    Lie(testDescription: "prefix of a whole chunk", offset: 72, bytes: [0, 16]),
    Lie(testDescription: "prefix without a sum", offset: 80, bytes: [0]),
    Lie(testDescription: "a bit past the end", offset: 64 + 512 * 24, bytes: [0x49]),
    Lie(testDescription: "bytes behind the bitmap", offset: 64 + 512 * 24 + 8, bytes: [1]),
  ])
  func `a slot that lies under a good hash is refused`(_ lie: Lie) {
    var slot = sampleSlot(5)
    slot.flags = .cleanStop
    slot.prefixes = [ManifestSlot.WrittenPrefix(chunk: 1, length: 10, sum: 3)]
    let good = codec.encode(slot, id: id, grid: grid)
    #expect(slotError(good) == nil)
    #expect(isDamage(slotError(resealed(good) { $0.put(lie.bytes, at: lie.offset) })))
  }

  @Test func `a slot of another manifest is not taken`() {
    let bytes = codec.encode(sampleSlot(5), id: ManifestID(high: id.high, low: id.low ^ 1), grid: grid)
    #expect(slotError(bytes) == .notOurs)
  }

  @Test func `sums and seeds differ by chunk and by manifest, and 0 means none`() {
    var seeds: Set<UInt64> = []
    for chunk in 0..<1000 { seeds.insert(id.seed(forChunk: chunk)) }
    seeds.insert(ManifestID(high: id.high ^ 1, low: id.low).seed(forChunk: 0))
    seeds.insert(ManifestID(high: id.high, low: id.low ^ 1).seed(forChunk: 0))
    #expect(seeds.count == 1002)
    #expect(ChunkSum.normalised(0) == 1)
    #expect(ChunkSum.normalised(7) == 7)
  }

  @Test func `random bytes under our magic never trap`() {
    var random: UInt64 = 42
    for _ in 0..<300 {
      var page = codec.encode(sampleHeader())
      for _ in 0..<6 {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        page[12 + Int(random >> 40) % 180] = UInt8(truncatingIfNeeded: random >> 32)
      }
      codec.seal(&page)
      if let header = try? codec.decodeHeader(page) {
        #expect(header.grid.count <= ChunkGrid.mostChunks)
        #expect(ManifestLayout(header.grid).totalSize < 10 << 20)
        if header.grid.count > 0 { _ = header.grid.range(of: header.grid.count - 1) }
      }
    }
  }
}
