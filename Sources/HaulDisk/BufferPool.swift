// SPDX-License-Identifier: Apache-2.0

internal import HaulPlatform

/// Memory for bytes on their way from a connection to the disk, bounded by bytes.
///
/// A download may take a buffer only while it would hold no more than is left for the others. So one whose disk
/// stands still uses half of the pool at the most, and the next ones always find room; nobody has to know how
/// many downloads there are. Any thread.
package final class BufferPool: Sendable {
  private struct State {
    /// Handed out, in bytes.
    var taken = 0
    /// Buffers that came back, for the next taker; the last one back is the warmest in the processor's cache.
    var idle: [Buffer] = []
    var idleBytes = 0
  }

  /// The bound in bytes.
  package let capacity: Int
  private let state = Monitor(State())

  package static let smallestBuffer = 4 * 1024
  package static let largestBuffer = 1 << 20

  package init(capacity: Int) { self.capacity = capacity }

  /// The size of buffers, in bytes, at which `connections` partly filled ones use a quarter of the pool.
  package func bufferSize(connections: Int) -> Int {
    let share = capacity / (4 * max(1, connections))
    return min(Self.largestBuffer, max(Self.smallestBuffer, share / 4096 * 4096))
  }

  /// Hands out a buffer of `size` bytes. It is the caller's to ask beforehand whether there is room.
  package func take(size: Int, for account: PoolAccount) -> Buffer {
    let reused = state.withLock { state -> Buffer? in
      state.taken += size
      account.held += size
      if let index = state.idle.lastIndex(where: { $0.capacity == size }) {
        state.idleBytes -= size
        return state.idle.remove(at: index)
      }
      // Buffers of another size only stand in the way of the bound.
      while state.taken + state.idleBytes > capacity, let old = state.idle.popLast() {
        state.idleBytes -= old.capacity
      }
      return nil
    }
    return reused ?? Buffer(capacity: size)
  }

  /// Takes a buffer back.
  package func giveBack(_ buffer: Buffer, account: PoolAccount) {
    buffer.count = 0
    state.withLock { state in
      state.taken -= buffer.capacity
      account.held -= buffer.capacity
      guard state.taken + state.idleBytes + buffer.capacity <= capacity else { return }
      state.idle.append(buffer)
      state.idleBytes += buffer.capacity
    }
  }

  /// Whether a download may take `bytes` more now.
  package func hasRoom(for account: PoolAccount, bytes: Int) -> Bool {
    state.withLock { state in
      account.held == 0 || account.held + bytes <= capacity - state.taken
    }
  }

  /// Whether the pool as a whole has `bytes` left, whosever share they are.
  package func hasReserve(bytes: Int) -> Bool {
    state.withLock { $0.taken + bytes <= capacity }
  }

  /// Bytes that are handed out.
  package var takenBytes: Int { state.withLock { $0.taken } }
}

/// What one download holds of a pool.
///
/// Unchecked, because `held` is read and written only inside the pool's lock, in the three methods above.
package final class PoolAccount: @unchecked Sendable {
  fileprivate var held = 0

  package init() {}
}

/// A run of bytes on its way to `offset` of a file.
///
/// Unchecked, because it has one owner at a time: the engine's thread fills it, hands it to the writer through
/// a queue and forgets it; the writer empties it and gives it back to the pool.
package final class Buffer: @unchecked Sendable {
  package let capacity: Int
  package let base: UnsafeMutableRawPointer
  /// The offset in the file of the first byte.
  package var offset = 0
  /// How many bytes there are to be: less than ``capacity`` where a chunk ends.
  package var limit = 0
  package var count = 0

  init(capacity: Int) {
    self.capacity = capacity
    base = .allocate(byteCount: capacity, alignment: 4096)
  }

  deinit { base.deallocate() }

  package var isFull: Bool { count == limit }
  package var end: Int { offset + count }
  package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// Copies as much of `source` as fits and tells how much that was.
  package func append(_ source: UnsafeRawBufferPointer) -> Int {
    let copied = min(source.count, limit - count)
    guard copied > 0, let from = source.baseAddress else { return 0 }
    (base + count).copyMemory(from: from, byteCount: copied)
    count += copied
    return copied
  }
}
