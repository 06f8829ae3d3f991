// SPDX-License-Identifier: Apache-2.0

package import HaulCore
internal import HaulPlatform

/// How far the digest thread may read.
package enum FrontierStep: Equatable, Sendable {
  /// Everything before this offset is written.
  case ready(upTo: Int)
  /// The caller is at the end of the complete file.
  case complete
  /// The waiters were cancelled, or the generation is over.
  case cancelled
}

extension PartFile {
  /// Waits until bytes beyond `offset` are written. [digest]
  ///
  /// With a known length only whole chunks are handed out (and the last one with the end of the file), so
  /// that each can be checked against its sum. The frontier moves back where a chunk is distrusted; what was
  /// handed out before is then the caller's to take back.
  package func waitForFrontier(beyond offset: Int, generation: Int) -> FrontierStep {
    state.withLock { if $0.generation == generation { $0.readBack = offset } }
    return state.wait { state in
      if state.cancelled || state.generation != generation { return .cancelled }
      if let length = state.length, state.frontier >= length, offset >= length { return .complete }
      return state.handedOut > offset ? .ready(upTo: state.handedOut) : nil
    }
  }

  /// Lets every waiter return `.cancelled`, now and later. Any thread.
  package func cancelWaiters() {
    state.signal { $0.cancelled = true }
  }

  /// Lets waiters wait again, after ``cancelWaiters()`` and once nobody waits any more. Any thread.
  package func admitWaiters() {
    state.signal { $0.cancelled = false }
  }

  /// Tells where a file of unknown length has ended. [any thread, once a generation]
  package func declareComplete(length: Int) {
    state.signal { $0.length = $0.grid?.length ?? length }
  }

  /// Fills the buffer from the data file. [digest; any thread while the file is open]
  /// - Throws: `.incomplete` where the file ends before.
  package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DiskError) {
    guard try disk.readFully(into: buffer, from: data, at: offset) == buffer.count else {
      throw DiskError(
        "read from", data.path, code: 0, kind: .incomplete,
        detail: "it ends before byte \(offset + buffer.count)")
    }
  }

  /// The chunks that are written whole, and the grid that they are of. Any thread.
  package var completeChunks: (chunks: ChunkBitmap, grid: ChunkGrid?) {
    state.withLock { ($0.chunks, $0.grid) }
  }

  /// The sum that a chunk must have, and its seed; nil while the chunk is not written. Any thread.
  ///
  /// `value` equals `ChunkSum.normalised` of XXH3-64 with `seed` over the chunk's bytes.
  package func expectedSum(ofChunk chunk: Int) -> (seed: UInt64, value: UInt64)? {
    state.withLock { state in
      guard state.chunks.count > chunk, chunk >= 0, state.chunks[chunk] else { return nil }
      return (state.id.seed(forChunk: chunk), state.sums[chunk])
    }
  }
}
