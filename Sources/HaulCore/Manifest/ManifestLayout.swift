// SPDX-License-Identifier: Apache-2.0

/// Where everything stands in a manifest file, in bytes from its start. Fixed by the number of chunks.
package struct ManifestLayout: Equatable, Sendable {
  package static let pageSize = 4096
  /// The two copies of the header.
  package static let headerOffsets = [0, pageSize]
  /// Both header pages together.
  package static let headerSize = 2 * pageSize

  package let chunkCount: Int

  package init(_ grid: ChunkGrid) { chunkCount = grid.count }

  package var sumsOffset: Int { Self.headerSize }
  /// One sum of 8 bytes a chunk, without the rest of the last page.
  package var sumsSize: Int { 8 * chunkCount }
  /// Each slot starts on a page of its own, so that writing one never rewrites a sector of the other.
  package var slotOffsets: [Int] {
    let first = sumsOffset + Self.paged(sumsSize)
    return [first, first + slotSize]
  }
  package var slotSize: Int { Self.paged(bitmapOffset + bitmapSize + Self.hashSize) }
  package var totalSize: Int { slotOffsets[1] + slotSize }

  /// - Precondition: `0 <= chunk < chunkCount`.
  package func sumOffset(ofChunk chunk: Int) -> Int {
    precondition(chunk >= 0 && chunk < chunkCount, "no such chunk")
    return sumsOffset + 8 * chunk
  }

  // Inside a slot.
  static let hashSize = 8
  static let prefixesOffset = 64
  static let prefixSize = 24
  var bitmapOffset: Int { Self.prefixesOffset + ManifestSlot.mostPrefixes * Self.prefixSize }
  var bitmapSize: Int { 8 * ((chunkCount + 63) / 64) }

  private static func paged(_ size: Int) -> Int { (size + pageSize - 1) / pageSize * pageSize }
}
