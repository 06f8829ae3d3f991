// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDigest
internal import HaulDisk
internal import HaulPlatform
private import Synchronization

/// Reads a whole part file back from the disk and computes its digests: whatever its manifest says, a file that
/// has the digest that is wanted is right. Runs on a thread of its own.
final class PartProof: Sendable {
  private let part: PartFile
  private let length: Int
  private let algorithms: Set<DigestAlgorithm>
  private let passed = Atomic<Int>(0)
  private let isCancelled = Atomic<Bool>(false)

  init(part: PartFile, length: Int, algorithms: Set<DigestAlgorithm>) {
    self.part = part
    self.length = length
    self.algorithms = algorithms
  }

  /// How many bytes were read. Any thread may ask.
  var hashedBytes: Int { passed.load(ordering: .relaxed) }

  func cancel() { isCancelled.store(true, ordering: .relaxed) }

  /// Tells the digests, or none where the file could not be read to its end.
  func start(_ done: @escaping @Sendable (DigestSet) -> Void) {
    startThread(name: "haul-verify") { [self] in done((try? compute()) ?? DigestSet()) }
  }

  private func compute() throws -> DigestSet {
    // What a failed write-back left clean in the page cache is not on the disk: it is read from there.
    try part.prepareRescue()
    let digests = try Digest.of(algorithms)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
    defer { buffer.deallocate() }
    var offset = 0
    while offset < length, !isCancelled.load(ordering: .relaxed) {
      let piece = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(length - offset))
      try part.read(into: piece, at: offset)
      for digest in digests { digest.update(UnsafeRawBufferPointer(piece)) }
      offset += piece.count
      passed.store(offset, ordering: .relaxed)
    }
    return offset == length ? DigestSet(finishing: digests) : DigestSet()
  }
}
