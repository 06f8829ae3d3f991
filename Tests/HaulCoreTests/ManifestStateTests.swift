// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HaulCore

private let codec = ManifestCodec { bytes in
  bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
}

private let header = ManifestHeader(
  id: ManifestID(high: 1, low: 2), created: 0, grid: ChunkGrid(length: 200 * 4096, chunkSize: 4096),
  source: "s")

private func encoded(_ sequence: UInt64, marking count: Int, flags: ManifestSlot.Flags = []) -> [UInt8] {
  var bitmap = ChunkBitmap(count: header.grid.count)
  for chunk in 0..<count { bitmap[chunk] = true }
  return codec.encode(
    ManifestSlot(sequence: sequence, flags: flags, bitmap: bitmap), id: header.id, grid: header.grid)
}

private func chosen(_ a: [UInt8], _ b: [UInt8]) -> ManifestState {
  ManifestState.choose(header: header, slots: [a, b], codec: codec)
}

@Suite struct ManifestStateTests {
  let blank = [UInt8](repeating: 0, count: ManifestLayout(header.grid).slotSize)

  @Test func `either copy of the header is enough`() throws {
    let page = codec.encode(header)
    var torn = page
    torn[100] ^= 1
    #expect(try ManifestState.header(in: page + page, codec: codec) == header)
    #expect(try ManifestState.header(in: torn + page, codec: codec) == header)
    #expect(try ManifestState.header(in: page + torn, codec: codec) == header)
    #expect(try ManifestState.header(in: page, codec: codec) == header)
  }

  @Test func `no good copy is reported as the most telling of both`() {
    let page = codec.encode(header)
    var torn = page
    torn[100] ^= 1
    var newer = page
    newer[8] = 9
    let stranger = [UInt8](repeating: 7, count: 4096)
    let cases: [([UInt8], ManifestError?)] = [
      (stranger + stranger, .notOurs), ([], .notOurs), (torn + newer, .newerVersion(9)),
      (newer + torn, .newerVersion(9)), (stranger + torn, nil), (torn + stranger, nil),
    ]
    for (pages, expected) in cases {
      do throws(ManifestError) {
        _ = try ManifestState.header(in: pages, codec: codec)
        Issue.record("a header out of nothing")
      } catch {
        if let expected { #expect(error == expected) } else { #expect(error.description.contains("damaged")) }
      }
    }
  }

  @Test func `the highest valid sequence counts, wherever it stands`() {
    #expect(chosen(encoded(4, marking: 4), encoded(5, marking: 5)).slot?.bitmap.setCount == 5)
    let state = chosen(encoded(6, marking: 6), encoded(5, marking: 5))
    #expect(state.slot?.bitmap.setCount == 6)
    #expect(state.position == 0)
    #expect(state.nextSequence == 7)
    #expect(chosen(encoded(1, marking: 1), blank).position == 0)
  }

  @Test func `a slot torn at any sector leaves the other`() {
    let old = encoded(4, marking: 4)
    let new = encoded(6, marking: 120)
    let previous = encoded(5, marking: 5)
    for torn in stride(from: 512, to: new.count, by: 512) {
      for mixed in [new.prefix(torn) + old.suffix(from: torn), old.prefix(torn) + new.suffix(from: torn)] {
        let state = chosen(Array(mixed), previous)
        // A tear behind the last byte that differs leaves a whole slot, old or new.
        if Array(mixed) == new {
          #expect(state.slot?.sequence == 6)
        } else {
          #expect(state.slot?.sequence == 5, "torn at \(torn)")
          #expect(state.slot?.bitmap.setCount == 5)
        }
      }
    }
  }

  @Test func `with two bad slots only sums count`() {
    var bad = encoded(4, marking: 4)
    bad[70] ^= 1
    let state = chosen(bad, blank)
    #expect(state.slot == nil)
    #expect(state.position == nil)
    #expect(state.nextSequence == 1)
  }

  @Test func `one sequence in two valid slots is corrupt, but a mismatch is remembered`() {
    let state = chosen(encoded(4, marking: 4), encoded(4, marking: 9, flags: .mismatch))
    #expect(state.slot == nil)
    #expect(state.flags == .mismatch)
    #expect(state.nextSequence == 5)
  }

  @Test func `the layout keeps pages apart`() {
    for length in [0, 1, 4096 * 1000, 1 << 40] {
      let layout = ManifestLayout(ChunkGrid(length: length))
      #expect(layout.sumsOffset == 8192)
      #expect(layout.slotOffsets.allSatisfy { $0 % 4096 == 0 })
      #expect(layout.slotOffsets[0] >= layout.sumsOffset + layout.sumsSize)
      #expect(layout.slotOffsets[1] == layout.slotOffsets[0] + layout.slotSize)
      #expect(layout.totalSize == layout.slotOffsets[1] + layout.slotSize)
    }
    #expect(ManifestLayout(ChunkGrid(length: 1 << 40)).totalSize < 9 << 20)
  }
}
