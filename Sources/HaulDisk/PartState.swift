// SPDX-License-Identifier: Apache-2.0

internal import HaulCore

/// What writer, committer and digest thread share of one part file, behind one monitor.
struct PartState {
  /// Where chunk sums go on disk.
  struct SumPlace: Equatable {
    let file: DiskFile
    let layout: ManifestLayout
  }

  /// What the writer has to do with one buffer.
  struct Admission {
    /// The parts of the buffer that are not written yet.
    let gaps: [ByteRange]
    /// The buffer's range inside the file.
    let range: ByteRange
    /// The chunks that have every byte once the gaps are written.
    let completed: [Int]
    let grid: ChunkGrid?
    let id: ManifestID
    let epoch: Int
    let sumPlace: SumPlace?
  }

  enum Marking {
    /// `moved`: the frontier passed a point that somebody may wait for.
    case marked(moved: Bool)
    /// The manifest appeared meanwhile: the sums have to be stored there before they may count.
    case storeSums(SumPlace)
    /// Something was distrusted meanwhile: look again what is missing.
    case again
  }

  var generation = 0
  /// Moves whenever written bytes stop counting.
  var epoch = 0
  var begun = false
  var grid: ChunkGrid?
  var id = ManifestID(high: 0, low: 0)
  /// The length of the complete file, once known.
  var length: Int?
  var written = ByteRangeSet()
  var frontier = 0
  var chunks = ChunkBitmap(count: 0)
  var sums: [UInt64] = []
  var sumPlace: SumPlace?
  var durableBytes = 0
  var cancelled = false
  /// How far the digest has come, or nil where nobody reads behind the frontier.
  var readBack: Int?

  /// Starts to account for one generation; everything in it counts from here.
  mutating func begin(grid: ChunkGrid?, id: ManifestID) {
    self.grid = grid
    self.id = id
    length = grid?.length
    begun = true
    forget()
    sums = [UInt64](repeating: ChunkSum.none, count: grid?.count ?? 0)
  }

  /// Nothing is written, nothing is known.
  mutating func forget() {
    epoch += 1
    written = ByteRangeSet()
    frontier = 0
    durableBytes = 0
    readBack = nil
    chunks = ChunkBitmap(count: grid?.count ?? 0)
    sums = [UInt64](repeating: ChunkSum.none, count: sums.count)
  }

  func admit(_ offered: ByteRange, generation: Int) -> Admission? {
    guard begun, generation == self.generation else { return nil }
    let range = grid.map { offered.intersection($0.whole) ?? ByteRange(0, 0) } ?? offered
    let gaps = written.gaps(in: range)
    var completed: [Int] = []
    if let grid, !gaps.isEmpty {
      for chunk in grid.indices(touching: range) where !chunks[chunk] {
        if written.gaps(in: grid.range(of: chunk)).allSatisfy(range.contains) { completed.append(chunk) }
      }
    }
    return Admission(
      gaps: gaps, range: range, completed: completed, grid: grid, id: id, epoch: epoch, sumPlace: sumPlace)
  }

  mutating func mark(
    _ admission: Admission, sums found: [(chunk: Int, sum: UInt64)], storedAt place: SumPlace?
  ) -> Marking {
    guard epoch == admission.epoch else { return .again }
    if let sumPlace, sumPlace != place, !found.isEmpty { return .storeSums(sumPlace) }
    written.insert(admission.range)
    for (chunk, sum) in found {
      sums[chunk] = sum
      chunks[chunk] = true
    }
    return .marked(moved: moveFrontier())
  }

  /// Counts whole chunks as written whose content is proven.
  mutating func markProven(_ proven: [Int]) {
    guard let grid else { return }
    for chunk in proven where sums[chunk] != ChunkSum.none {
      written.insert(grid.range(of: chunk))
      chunks[chunk] = true
    }
    _ = moveFrontier()
  }

  mutating func distrust(_ bad: [Int]) {
    guard let grid else { return }
    epoch += 1
    for chunk in bad {
      written.remove(grid.range(of: chunk))
      sums[chunk] = ChunkSum.none
      chunks[chunk] = false
    }
    frontier = written.end(ofRunAt: 0)
  }

  /// True where the part that is handed to the digest grew.
  mutating func moveFrontier() -> Bool {
    let before = handedOut
    frontier = written.end(ofRunAt: 0)
    return handedOut != before
  }

  /// The frontier, rounded down to whole chunks unless the file is complete: only those have a sum to check.
  var handedOut: Int {
    guard let grid, frontier < grid.length else { return frontier }
    return frontier / grid.chunkSize * grid.chunkSize
  }

  /// The bytes of whole chunks.
  func bytes(of bitmap: ChunkBitmap) -> Int {
    guard let grid, grid.count > 0 else { return 0 }
    let last = grid.count - 1
    let short = bitmap[last] ? grid.chunkSize - grid.range(of: last).count : 0
    return bitmap.setCount * grid.chunkSize - short
  }
}
