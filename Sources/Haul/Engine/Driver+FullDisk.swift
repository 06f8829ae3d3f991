// SPDX-License-Identifier: Apache-2.0

internal import HaulDisk

/// The time in which a disk is full and a download waits for room.
struct DiskShortage {
  /// What the disk said.
  let text: String
  let since: Double
  /// When it was last asked.
  var triedAt: Double
  /// Whether the writer or the committer is finding out.
  var isTrying = false
}

/// Waiting for room on a full disk.
///
/// Bytes that could not be written stay in their buffers, of which there is a bounded number, and nothing more is
/// read from the network. Once a second the first of them is tried again, or the commit that found no room for
/// the manifest: only an attempt tells for sure, because a quota shows in no count of free blocks. Connections
/// stay open; one that its server closes meanwhile is replaced as any other. Commits go on, so what was written is
/// durable.
extension Driver {
  /// Seconds between two tries.
  private static let interval = 1.0

  var waitsForRoom: Bool { plan.options.onFullDisk == .waits && output?.isStream == false }

  /// A buffer came back unwritten.
  func hasNoRoom(_ error: DiskError, for buffer: Buffer, _ check: BodyCheck?, now: Double) {
    guard stage == .fetching || stage == .draining else { return giveBack(buffer) }
    // In the order in which they came, for the sums that are taken on the way past.
    waiting.insert((buffer, check), at: shortage?.isTrying == true ? 0 : waiting.count)
    // A barrier that is in the writer's queue would say that everything before it is written.
    barriers += 1
    hasNoRoom(error, now: now)
  }

  func hasNoRoom(_ error: DiskError, now: Double) {
    if shortage == nil { notice(.waitingForRoom(why: "\(error)")) }
    shortage = DiskShortage(text: "\(error)", since: shortage?.since ?? now, triedAt: now)
    applyHold(now: now)
  }

  func tryFullDisk(now: Double) {
    guard let shortage, !shortage.isTrying, now - shortage.triedAt >= Self.interval else { return }
    if waiting.isEmpty { return commit(now: now) }
    tryFirstWaiting()
  }

  private func tryFirstWaiting() {
    shortage?.isTrying = true
    let (buffer, check) = waiting.removeFirst()
    dispatch(buffer, check, isTrial: true)
  }

  /// The last attempt succeeded. The next buffer is only an attempt, too: a little room is soon gone again.
  func foundRoom(now: Double) {
    guard let found = shortage, stage == .fetching || stage == .draining else { return }
    if !waiting.isEmpty { return tryFirstWaiting() }
    shortage = nil
    diskWait += now - found.since
    notice(.foundRoom)
    if stage == .draining { barrier() }
    releaseIfRoom(now: now)
    applyHold(now: now)
  }
}
