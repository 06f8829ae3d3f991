// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDigest
internal import HaulDisk
internal import HaulPlatform
internal import HaulTransport
internal import Synchronization

/// What the writer's jobs and the driver share.
final class WriterFlow: Sendable {
  /// How many buffers the writer has given back.
  let returned = Monitor(0)
  /// How the driver wants to hear of the next buffer that comes back.
  let wish = Atomic<Wish>(.nothing)

  enum Wish: UInt8, AtomicRepresentable {
    case nothing
    /// It waits on ``returned``.
    case signal
    /// It goes on with other work and wants a letter.
    case letter
  }
}

/// Buffers between connections and writer, and what happens when there are too few.
///
/// libcurl goes on reading from one socket as long as there is something (up to a hundred receive buffers in one
/// call), so the callback itself has to be able to say stop. It waits a moment for the writer, which on a
/// healthy disk is all that ever happens. A disk that needs longer has its download's sockets taken out of the
/// loop until buffers return, so that other downloads go on. And while anybody waits, at least one buffer of
/// this download is with the writer, so room will come.
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
  /// - Parameter check: of the answer whose bytes it holds.
  func submit(_ buffer: Buffer, _ check: BodyCheck?) {
    if buffer.count == 0 { return giveBack(buffer) }
    if trial != nil {
      trial?.comparison.add(buffer.bytes, at: buffer.offset)
      return giveBack(buffer)
    }
    if isWritable, shortage == nil { dispatch(buffer, check) } else { waiting.append((buffer, check)) }
  }

  func giveBack(_ buffer: Buffer) { share.pool.giveBack(buffer, account: account) }

  func dropWaiting() {
    for (buffer, _) in waiting { giveBack(buffer) }
    waiting = []
    for connection in connections { connection.dropPartial() }
  }

  /// The thread that writes this download's bytes.
  var writer: Worker {
    if case .stream(let sink) = output { return sink.writer }
    return setup.lane.writer
  }

  /// - Parameter isTrial: whether it finds out if the disk has room again.
  func dispatch(_ buffer: Buffer, _ check: BodyCheck?, isTrial: Bool = false) {
    guard let output else { return giveBack(buffer) }
    submitted += 1
    let waitsForRoom = waitsForRoom
    let (pool, account, flow, mail, id, generation) = (share.pool, account, flow, share.mail, id, generation)
    writer.submit {
      var isWritten = true
      do throws(DiskError) {
        switch output {
        case .part(let part): try part.write(buffer.bytes, at: buffer.offset, generation: generation)
        case .stream(let sink): try sink.write(buffer.bytes, at: buffer.offset)
        case .complete: break
        }
        if let check, !check.accepts(buffer.bytes, at: buffer.offset) {
          mail.post(.bodyDiffers(check.range, generation: generation), to: id)
        }
        if isTrial { mail.post(.roomFound, to: id) }
      } catch {
        isWritten = !(waitsForRoom && error.mayFindRoom)
        mail.post(isWritten ? .writeFailed(error) : .noRoom(error, buffer, check, account), to: id)
      }
      if isWritten { pool.giveBack(buffer, account: account) }
      switch flow.wish.exchange(.nothing, ordering: .sequentiallyConsistent) {
      case .nothing: flow.returned.withLock { $0 += 1 }
      case .signal: flow.returned.signal { $0 += 1 }
      case .letter:
        flow.returned.withLock { $0 += 1 }
        mail.post(.roomAvailable, to: id)
      }
    }
  }

  var buffersWithWriter: Int { submitted - flow.returned.withLock { $0 } }

  /// How long the engine's thread waits for one disk before it turns to other downloads, in seconds.
  private static let shortWait = 0.1

  /// Sees to it that `bytes` more can be buffered. False where they cannot, now: the caller ends its transfer.
  func makeRoom(for bytes: Int) -> Bool {
    guard bytes > 0 else { return true }
    let needed = (bytes + bufferSize - 1) / bufferSize * bufferSize
    if heldSince == nil, share.pool.hasRoom(for: account, bytes: needed) { return true }
    if heldSince == nil {
      let began = monotonicSeconds()
      let found = waitForWriter(needed)
      diskWait += monotonicSeconds() - began
      if found { return true }
      hold(now: monotonicSeconds())
    }
    // What libcurl has in its hands already may use what is left of the pool; more than that is refused.
    // An answer that cannot be continued may overdraw: to refuse it would throw away all that it has brought.
    return share.pool.hasReserve(bytes: needed) || machine?.resource?.honoursRanges == false
  }

  private func waitForWriter(_ needed: Int) -> Bool {
    guard isWritable, shortage == nil else { return false }
    if buffersWithWriter == 0 { submitFullest() }
    let pool = share.pool
    let account = account
    let flow = flow
    return flow.returned.wait(seconds: Self.shortWait) { _ in
      // The wish comes first: a buffer that returns between the two is then told.
      flow.wish.store(.signal, ordering: .sequentiallyConsistent)
      return pool.hasRoom(for: account, bytes: needed)
    }
  }

  /// Partly filled buffers alone would wait for bytes that nobody reads.
  private func submitFullest() {
    connections.max { $0.partialBytes < $1.partialBytes }?.submitPartial()
  }

  /// How far the file may run ahead of its digest, in bytes, before reading stops, and when it goes on.
  private static let longestLead = (stop: 64 << 20, start: 48 << 20)

  /// Lets the digest catch up. Where it is the slowest part, bytes that come sooner do not end the download
  /// sooner: they only take the processor away from it and are out of the cache when it gets to them.
  func paceByDigest(now: Double) {
    guard stage == .fetching, case .part(let part)? = output else { return }
    let lead = hasher.map { part.snapshot().frontier - $0.hashedBytes } ?? 0
    // It takes whole chunks only, so a lead below one of them would never go away.
    let chunks = 2 * (grid?.chunkSize ?? 0)
    if lead <= max(Self.longestLead.start, chunks) { hasCaughtUp = true }
    if hasCaughtUp, lead > max(isPaced ? Self.longestLead.start : Self.longestLead.stop, chunks) {
      if !isHeldUp {
        isPaced = true
        applyHold(now: now)
      }
    } else if isPaced {
      isPaced = false
      applyHold(now: now)
    }
  }

  private func hold(now: Double) {
    heldSince = now
    applyHold(now: now)
    flow.wish.store(.letter, ordering: .sequentiallyConsistent)
  }

  /// Takes up reading again where there is room for a quarter of the share, so that it does not stop at once.
  func releaseIfRoom(now: Double) {
    guard let since = heldSince, shortage == nil else { return }
    guard share.pool.hasRoom(for: account, bytes: max(bufferSize, share.pool.capacity / 8)) else {
      flow.wish.store(.letter, ordering: .sequentiallyConsistent)
      if isWritable, buffersWithWriter == 0 { submitFullest() }
      return
    }
    heldSince = nil
    flow.wish.store(.nothing, ordering: .sequentiallyConsistent)
    diskWait += now - since
    applyHold(now: now)
  }

  /// Takes the sockets out of the loop where something holds the download up, else puts them back.
  func applyHold(now: Double) {
    let isHeld = isHeldUp
    for connection in connections {
      connection.transfer.isHeld = isHeld
      machine?.hold(connection: connection.index, isHeld, now: now)
    }
    engine.loop.holdsChanged()
  }
}
