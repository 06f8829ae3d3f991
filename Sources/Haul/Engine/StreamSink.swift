// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDigest
internal import HaulDisk
internal import HaulPlatform

/// Bytes in order to something that is not a regular file, hashed on their way: they cannot be read back.
///
/// Unchecked, because `digests` and `running` are touched by the writer's thread alone, in ``compute(_:)``,
/// ``write(_:at:)`` and ``finish()``, which only its jobs call.
final class StreamSink: @unchecked Sendable {
  let path: String
  private let file: StreamFile
  private var digests: [Digest] = []
  private var running = HaulDigest.ChunkSum(seed: 0)
  private let emitted = Monitor(0)
  private let summed = Monitor(StreamSums())
  private let isClosed = Monitor(false)
  /// Its own writer: a reader that is slow or stands still is no reason to hold up the filesystem's.
  let writer = Worker(name: "haul-stream")

  init(path: String, disk: any DiskOperations) throws {
    self.path = path
    file = try StreamFile.open(path, disk: disk)
  }

  var snapshot: PartSnapshot {
    let count = emitted.withLock { $0 }
    return PartSnapshot(writtenBytes: count, frontier: count)
  }

  /// Of all that was emitted. Any thread.
  var sums: StreamSums { summed.withLock { $0 } }

  /// Chooses the digests, before the first byte; later calls change nothing. On the writer's thread.
  func compute(_ algorithms: Set<DigestAlgorithm>) {
    guard digests.isEmpty, emitted.withLock({ $0 == 0 }) else { return }
    // What is not offered was left out before.
    digests = (try? Digest.of(algorithms)) ?? []
  }

  /// Emits what of `bytes` was not emitted before. On the writer's thread.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(DiskError) {
    let done = emitted.withLock { $0 }
    guard offset <= done else {
      throw DiskError(
        "write to", path, code: 0, kind: .incomplete, detail: "bytes are missing before \(offset)")
    }
    let fresh = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(done - offset))
    guard !fresh.isEmpty else { return }
    try file.write(fresh)
    for digest in digests { digest.update(fresh) }
    summed.withLock { $0.add(fresh, at: done, &running) }
    emitted.signal { $0 += fresh.count }
  }

  /// The digests of all that was emitted. Once, on the writer's thread.
  func finish() -> DigestSet { DigestSet(finishing: digests) }

  /// A failure here is one of the last write. A second call does nothing.
  func close() throws(DiskError) {
    let wasClosed = isClosed.withLock { isClosed in
      defer { isClosed = true }
      return isClosed
    }
    if !wasClosed { try file.close() }
  }

  deinit {
    try? close()
    writer.close()
  }
}
