// SPDX-License-Identifier: Apache-2.0

import HaulCore
import HaulDigest
import HaulPlatform

/// A file in memory that grows as a test says.
///
/// Bytes that a test damages are damaged until the hasher distrusts their chunk; then they are `heals` times
/// put back as they should be.
final class FakeSource: PrefixSource {
  struct State {
    var disk: [UInt8]
    var written = ByteRangeSet()
    var cancelsAfter: Int?
    var heals = true
    var failsAt: Int?
    var distrusted: [Int] = []
    var reads: [ByteRange] = []
  }

  let truth: [UInt8]
  let length: Int
  let grid: ChunkGrid?
  let hasSums: Bool
  let state: Monitor<State>

  init(_ truth: [UInt8], grid: ChunkGrid?, hasSums: Bool = true) {
    self.truth = truth
    self.grid = grid
    self.hasSums = hasSums && grid != nil
    length = truth.count
    state = Monitor(State(disk: truth))
  }

  // What a test does.

  func write(_ range: ByteRange) { state.signal { $0.written.insert(range) } }
  func writeAll() { write(ByteRange(0, length)) }
  func damage(at offset: Int) { state.withLock { $0.disk[offset] ^= 0x40 } }
  func cancel() { cancel(after: 0) }
  /// Calls the work off once bytes behind `offset` are asked for.
  func cancel(after offset: Int) { state.signal { $0.cancelsAfter = offset } }
  var distrusted: [Int] { state.withLock { $0.distrusted } }
  var reads: [ByteRange] { state.withLock { $0.reads } }

  // What the hasher asks.

  func next(after offset: Int) -> PrefixStep {
    state.wait { state -> PrefixStep? in
      if let limit = state.cancelsAfter, offset >= limit { return .cancelled }
      if offset == self.length { return .complete }
      let end = state.written.end(ofRunAt: offset)
      return end > offset ? .ready(upTo: end) : nil
    }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DigestError) {
    try state.withLock { state throws(DigestError) in
      if let place = state.failsAt, ByteRange(offset, offset + buffer.count).contains(place) {
        throw .unreadable(offset: place, code: 5)
      }
      state.reads.append(ByteRange(offset, offset + buffer.count))
      buffer.copyBytes(from: state.disk[offset..<offset + buffer.count])
    }
  }

  func sum(ofChunk index: Int) -> ExpectedSum? {
    guard hasSums, let grid else { return nil }
    let range = grid.range(of: index)
    let seed = UInt64(index) &* 31 &+ 5
    return ExpectedSum(
      seed: seed, value: HaulDigestTests.sum(of: truth[range.lower..<range.upper], seed: seed))
  }

  func distrust(chunk index: Int) {
    state.signal { state in
      state.distrusted.append(index)
      guard state.heals, let grid = self.grid else { return }
      let range = grid.range(of: index)
      state.disk.replaceSubrange(range.lower..<range.upper, with: self.truth[range.lower..<range.upper])
    }
  }
}

extension FrontierHasher {
  /// Starts the hasher and waits for its end without holding a thread.
  func outcome() async -> HasherOutcome {
    await withCheckedContinuation { continuation in
      start { continuation.resume(returning: $0) }
    }
  }
}
