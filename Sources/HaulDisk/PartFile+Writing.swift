// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulPlatform

extension PartFile {
  /// Writes what of `bytes` is not written yet, and accounts for it. [writer]
  ///
  /// In this order: bytes, then the sums of chunks that they complete (in memory and, once there is a
  /// manifest, in it), then the mark that lets a commit count them. Bytes of an older generation, and those
  /// past the end of a known length, are dropped.
  ///
  /// - Throws: the failed write; nothing of `bytes` counts then.
  package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int, generation: Int) throws(DiskError) {
    let offered = ByteRange(offset, offset + bytes.count)
    var marking = Marking.again
    while marking == .again {
      guard let admission = state.withLock({ $0.admit(offered, generation: generation) }),
        !admission.gaps.isEmpty
      else { return }
      streams.withLock { $0.follow(epoch: admission.epoch) }
      for gap in admission.gaps {
        let piece = UnsafeRawBufferPointer(rebasing: bytes[gap.lower - offset..<gap.upper - offset])
        try disk.writeFully(piece, to: data, at: gap.lower)
        guard let grid = admission.grid else { continue }
        streams.withLock { $0.add(piece, at: gap.lower, grid: grid, id: admission.id) }
      }
      marking = try account(for: admission, generation: generation)
    }
  }

  private enum Marking { case done, again }

  private func account(for admission: PartState.Admission, generation: Int) throws(DiskError) -> Marking {
    let sums = try sums(of: admission)
    var place = admission.sumPlace
    while true {
      if let place { try store(sums, at: place) }
      let outcome = state.withLock { state -> PartState.Marking? in
        state.generation == generation ? state.mark(admission, sums: sums, storedAt: place) : nil
      }
      switch outcome {
      case nil: return .done
      case .again: return .again
      case .storeSums(let appeared): place = appeared
      case .marked(let moved):
        if moved { state.signal { _ in } }
        return .done
      }
    }
  }

  /// The sums of the chunks that a buffer completed: out of the running ones, or read back.
  private func sums(of admission: PartState.Admission) throws(DiskError) -> [(chunk: Int, sum: UInt64)] {
    guard let grid = admission.grid else { return [] }
    var result: [(chunk: Int, sum: UInt64)] = []
    for chunk in admission.completed {
      let range = grid.range(of: chunk)
      if let value = streams.withLock({ $0.take(chunk, end: range.upper) }) {
        result.append((chunk, ChunkSum.normalised(value)))
        continue
      }
      guard let sum = try disk.sum(of: range, in: data, seed: admission.id.seed(forChunk: chunk)) else {
        throw DiskError(
          "read back", data.path, code: 0, kind: .incomplete,
          detail: "bytes that were just written are not there")
      }
      result.append((chunk, sum))
    }
    return result
  }

  private func store(
    _ sums: [(chunk: Int, sum: UInt64)], at place: PartState.SumPlace
  ) throws(DiskError) {
    for (chunk, sum) in sums {
      var value = sum.littleEndian
      try withUnsafeBytes(of: &value) { (bytes) throws(DiskError) in
        try disk.writeFully(bytes, to: place.file, at: place.layout.sumOffset(ofChunk: chunk))
      }
    }
  }
}
