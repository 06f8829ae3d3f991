// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

@Suite("ChunkGrid")
struct ChunkGridTests {
  private static let mebibyte = 1 << 20
  private static let tebibyte = 1 << 40

  @Test(
    "length, chunk size, number of chunks, size of the last",
    arguments: [
      (0, mebibyte, 0, 0),
      (1, mebibyte, 1, 1),
      (mebibyte - 1, mebibyte, 1, mebibyte - 1),
      (mebibyte, mebibyte, 1, mebibyte),
      (mebibyte + 1, mebibyte, 2, 1),
      (tebibyte - 1, mebibyte, mebibyte, mebibyte - 1),
      (tebibyte, mebibyte, mebibyte, mebibyte),
      (tebibyte + 1, 2 * mebibyte, mebibyte / 2 + 1, 1),
      (1 << 62, 1 << 42, mebibyte, 1 << 42),
    ])
  func shape(_ length: Int, _ chunkSize: Int, _ count: Int, _ last: Int) {
    let grid = ChunkGrid(length: length)
    #expect(grid.chunkSize == chunkSize)
    #expect(grid.count == count)
    #expect(grid.whole == ByteRange(0, length))
    guard count > 0 else { return }
    let range = grid.range(of: count - 1)
    #expect(range.count == last)
    #expect(range.upper == length)
    #expect(grid.index(at: length - 1) == count - 1)
    #expect(grid.border(after: range.lower) == length)
    #expect(grid.indices(touching: grid.whole) == 0..<count)
  }

  @Test("chunks follow one another without holes", arguments: [1, 4095, 4096, 4097, 5 * 4096 + 3])
  func partition(_ length: Int) {
    let grid = ChunkGrid(length: length, chunkSize: 4096)
    var end = 0
    for index in 0..<grid.count {
      let range = grid.range(of: index)
      #expect(range.lower == end)
      #expect(!range.isEmpty)
      #expect(grid.index(at: range.lower) == index)
      #expect(grid.index(at: range.upper - 1) == index)
      #expect(grid.border(after: range.lower) == range.upper)
      #expect(grid.border(after: range.upper - 1) == range.upper)
      end = range.upper
    }
    #expect(end == length)
  }

  @Test(
    "the chunks that a range touches",
    arguments: [
      (ByteRange(0, 0), 0..<0), (ByteRange(0, 1), 0..<1), (ByteRange(0, 4096), 0..<1),
      (ByteRange(4095, 4097), 0..<2), (ByteRange(4096, 8192), 1..<2), (ByteRange(8191, 8193), 1..<3),
    ])
  func touching(_ range: ByteRange, _ expected: Range<Int>) {
    #expect(ChunkGrid(length: 3 * 4096, chunkSize: 4096).indices(touching: range) == expected)
  }
}
