// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDisk
internal import HaulPlatform
internal import HaulTransport
internal import Synchronization

/// What the writer's jobs and the driver count together.
final class WriterFlow: Sendable {
  /// Buffers that the writer has given back.
  let returned = Atomic<Int>(0)
  /// Set while the driver waits for room; the writer then tells it.
  let wantsRoom = Atomic<Bool>(false)
}

/// Buffers between connections and writer, and what happens when there are too few.
///
/// Nothing here waits. A download that uses more than its share of the pool has its sockets taken out of the
/// loop until buffers return; and while that is so at least one of its buffers is with the writer, so some will.
extension Driver {
  func newBuffer(at offset: Int) -> Buffer {
    let buffer = share.pool.take(size: bufferSize, for: account)
    buffer.offset = offset
    buffer.limit = bufferSize
    let grid = machine?.scheduler?.grid ?? ChunkGrid(length: Int.max)
    // A buffer never crosses a chunk's border, so that a chunk is summed and marked as soon as it is whole.
    buffer.limit = min(bufferSize, grid.chunkSize - offset % grid.chunkSize)
    return buffer
  }

  /// Passes a buffer on to the writer, or keeps it until there is a file to write to.
  func submit(_ buffer: Buffer) {
    if buffer.count == 0 { return giveBack(buffer) }
    if isWritable { dispatch(buffer) } else { waiting.append(buffer) }
  }

  func giveBack(_ buffer: Buffer) { share.pool.giveBack(buffer, account: account) }

  func dropWaiting() {
    for buffer in waiting { giveBack(buffer) }
    waiting = []
    for connection in connections { connection.dropPartial() }
  }

  /// The thread that writes this download's bytes.
  var writer: Worker {
    if case .stream(let sink) = output { return sink.writer }
    return setup.lane.writer
  }

  func dispatch(_ buffer: Buffer) {
    guard let output else { return giveBack(buffer) }
    submitted += 1
    let (pool, account, flow, mail, id, generation) = (share.pool, account, flow, share.mail, id, generation)
    writer.submit {
      do throws(DiskError) {
        switch output {
        case .part(let part): try part.write(buffer.bytes, at: buffer.offset, generation: generation)
        case .stream(let sink): try sink.write(buffer.bytes, at: buffer.offset)
        case .complete: break
        }
      } catch {
        mail.post(.writeFailed(error), to: id)
      }
      pool.giveBack(buffer, account: account)
      flow.returned.add(1, ordering: .sequentiallyConsistent)
      if flow.wantsRoom.exchange(false, ordering: .sequentiallyConsistent) { mail.post(.roomAvailable, to: id) }
    }
  }

  private var buffersWithWriter: Int { submitted - flow.returned.load(ordering: .sequentiallyConsistent) }

  /// After each piece of a body: stops reading where the next piece would go beyond this download's share.
  func checkRoom() {
    guard !share.pool.hasRoom(for: account, bytes: bufferSize) else { return }
    let now = monotonicSeconds()
    // A request that began since (a redirect) is not held yet.
    if heldSince != nil { return setHeld(true, now: now) }
    heldSince = now
    setHeld(true, now: now)
    askForRoom()
    // What came back between the two looks would not be told again.
    if share.pool.hasRoom(for: account, bytes: bufferSize) { releaseIfRoom(now: now) }
  }

  func releaseIfRoom(now: Double) {
    guard let since = heldSince else { return }
    guard share.pool.hasRoom(for: account, bytes: bufferSize) else { return askForRoom() }
    heldSince = nil
    flow.wantsRoom.store(false, ordering: .sequentiallyConsistent)
    diskWait += now - since
    setHeld(false, now: now)
  }

  private func askForRoom() {
    flow.wantsRoom.store(true, ordering: .sequentiallyConsistent)
    // Partly filled buffers alone would wait for bytes that nobody reads.
    guard isWritable, buffersWithWriter == 0 else { return }
    connections.max { $0.partialBytes < $1.partialBytes }?.submitPartial()
  }

  private func setHeld(_ isHeld: Bool, now: Double) {
    for connection in connections {
      connection.transfer.isHeld = isHeld
      machine?.hold(connection: connection.index, isHeld, now: now)
    }
    engine.loop.holdsChanged()
  }
}
