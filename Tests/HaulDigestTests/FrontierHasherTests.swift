// SPDX-License-Identifier: Apache-2.0

import HaulCore
import HaulDigest
import HaulPlatform
import TestSupport
import Testing

private let mebibyte = 1 << 20

@Suite("FrontierHasher")
struct FrontierHasherTests {
  /// A length, and the size of its chunks.
  static let shapes: [(Int, Int)] = [
    (0, mebibyte), (1, mebibyte), (mebibyte - 1, mebibyte), (mebibyte, mebibyte), (mebibyte + 1, mebibyte),
    (3 * mebibyte + 17, mebibyte), (4096 * 5 + 1, 4096), (9 * mebibyte + 5, 4 * mebibyte),
    (8 * mebibyte, 4 * mebibyte),
  ]

  @Test("the digest of a file that is all there", arguments: shapes)
  func present(_ length: Int, _ chunkSize: Int) async {
    let (source, hasher) = subject(length, chunkSize)
    source.writeAll()
    #expect(await hasher.outcome() == .sha256(of: source.truth))
    #expect(hasher.hashedBytes == length)
    #expect(source.distrusted.isEmpty)
  }

  @Test("no read crosses a chunk border or is larger than 1 MiB", arguments: shapes)
  func pieces(_ length: Int, _ chunkSize: Int) async throws {
    let (source, hasher) = subject(length, chunkSize)
    source.writeAll()
    _ = await hasher.outcome()
    let grid = try #require(source.grid)
    for read in source.reads {
      #expect(read.count <= mebibyte)
      #expect(grid.indices(touching: read).count == 1)
    }
    #expect(source.reads.reduce(0) { $0 + $1.count } == length, "every byte is read once")
  }

  @Test("a file that grows out of order", arguments: 0..<12 as Range<UInt64>)
  func outOfOrder(seed: UInt64) async {
    var generator = SeededGenerator(seed: seed)
    let length = Int.random(in: 1...6 * mebibyte, using: &generator)
    let chunkSize = 1 << Int.random(in: 12...22, using: &generator)
    let (source, hasher) = subject(length, chunkSize)
    // Cuts that are no chunk borders, so that chunks become whole from several sides.
    var cuts = (0..<20).map { _ in Int.random(in: 0...length, using: &generator) } + [0, length]
    cuts.sort()
    let parts = zip(cuts, cuts.dropFirst()).map { ByteRange($0, $1) }.shuffled(using: &generator)

    async let outcome = hasher.outcome()
    for part in parts {
      source.write(part)
      await Task.yield()
    }
    #expect(await outcome == .sha256(of: source.truth))
    #expect(hasher.hashedBytes == length)
  }

  @Test("without a grid any length is followed", arguments: [0, 1, 4096, mebibyte, 2 * mebibyte + 3])
  func noGrid(_ length: Int) async {
    var generator = SeededGenerator(seed: UInt64(length))
    let source = FakeSource(generator.bytes(length), grid: nil)
    let hasher = FrontierHasher(source: source, grid: nil, algorithms: [.sha256])
    async let outcome = hasher.outcome()
    for offset in stride(from: 0, to: length, by: 333_333) {
      source.write(ByteRange(offset, min(offset + 333_333, length)))
      await Task.yield()
    }
    #expect(await outcome == .sha256(of: source.truth))
  }

  @Test(
    "a damaged chunk is distrusted, fetched again, and not in the digest",
    arguments: [
      (3 * mebibyte + 17, mebibyte, [0]),
      (3 * mebibyte + 17, mebibyte, [mebibyte, 3 * mebibyte + 16]),
      (4096 * 5 + 1, 4096, [4095, 4096, 4096 * 5]),
      (9 * mebibyte + 5, 4 * mebibyte, [0]),
      (9 * mebibyte + 5, 4 * mebibyte, [4 * mebibyte - 1, 8 * mebibyte]),
    ])
  func damage(_ length: Int, _ chunkSize: Int, _ places: [Int]) async {
    let (source, hasher) = subject(length, chunkSize)
    for place in places { source.damage(at: place) }
    source.writeAll()
    #expect(await hasher.outcome() == .sha256(of: source.truth))
    #expect(source.distrusted == places.map { $0 / chunkSize })
  }

  @Test("every algorithm is computed in the same pass, damage or not", arguments: shapes)
  func several(_ length: Int, _ chunkSize: Int) async throws {
    let (source, hasher) = subject(length, chunkSize, algorithms: Set(DigestAlgorithm.allCases))
    if length > 0 { source.damage(at: length / 2) }
    source.writeAll()
    guard case .digests(let found) = await hasher.outcome() else { return #expect(Bool(false)) }
    for algorithm in DigestAlgorithm.allCases {
      let digest = try Digest(algorithm)
      source.truth.withUnsafeBytes { digest.update($0) }
      #expect(found[algorithm] == digest.finish())
    }
    #expect(source.distrusted.count == min(1, length))
    let again = length > 0 ? ByteRange(length / 2 / chunkSize * chunkSize, length).count : 0
    #expect(source.reads.reduce(0) { $0 + $1.count } == length + min(again, chunkSize), "one pass for all")
  }

  @Test("a chunk that stays damaged ends the work")
  func incurable() async {
    let (source, hasher) = subject(2 * mebibyte, mebibyte)
    source.state.withLock { $0.heals = false }
    source.damage(at: mebibyte)
    source.writeAll()
    #expect(await hasher.outcome() == .failed(.damaged(chunk: 1)))
    #expect(source.distrusted == [1, 1, 1])
    #expect(hasher.hashedBytes == mebibyte)
  }

  @Test("with no algorithm only sums are checked")
  func sumsOnly() async {
    let (source, hasher) = subject(2 * mebibyte + 1, mebibyte, algorithms: [])
    source.damage(at: 2 * mebibyte)
    source.writeAll()
    #expect(await hasher.outcome() == .checked)
    #expect(source.distrusted == [2])
  }

  @Test("a chunk without a sum is hashed as it is, and not read where there is no digest either")
  func noSums() async {
    let (source, hasher) = subject(mebibyte + 5, mebibyte, hasSums: false)
    source.writeAll()
    #expect(await hasher.outcome() == .sha256(of: source.truth))

    let (other, checker) = subject(mebibyte + 5, mebibyte, algorithms: [], hasSums: false)
    other.writeAll()
    #expect(await checker.outcome() == .checked)
    #expect(other.reads.isEmpty)
  }

  @Test("a cancel ends the wait for bytes")
  func cancelWaiting() async {
    let (source, hasher) = subject(2 * mebibyte, mebibyte)
    source.write(ByteRange(0, mebibyte + 1))
    async let outcome = hasher.outcome()
    await Task.yield()
    source.cancel()
    #expect(await outcome == .cancelled)
  }

  @Test("a cancel is noticed though all bytes are ready, even inside a large chunk")
  func cancelReady() async {
    let (source, hasher) = subject(8 * mebibyte, mebibyte)
    source.writeAll()
    source.cancel(after: 3 * mebibyte)
    #expect(await hasher.outcome() == .cancelled)
    #expect(hasher.hashedBytes == 3 * mebibyte)

    let (large, inside) = subject(8 * mebibyte, 4 * mebibyte)
    large.writeAll()
    large.cancel(after: 6 * mebibyte)
    #expect(await inside.outcome() == .cancelled)
    #expect(inside.hashedBytes == 4 * mebibyte)
    #expect(large.reads.last == ByteRange(5 * mebibyte, 6 * mebibyte))
  }

  @Test("a read error is the outcome")
  func unreadable() async {
    let (source, hasher) = subject(2 * mebibyte, mebibyte)
    source.state.withLock { $0.failsAt = mebibyte + 7 }
    source.writeAll()
    #expect(await hasher.outcome() == .failed(.unreadable(offset: mebibyte + 7, code: 5)))
  }

  @Test("a file that ends elsewhere than the grid has no digest", arguments: [-1, 1])
  func wrongLength(_ difference: Int) async {
    let length = mebibyte + 100
    let source = FakeSource([UInt8](repeating: 1, count: length), grid: nil)
    source.writeAll()
    let grid = ChunkGrid(length: length + difference)
    let hasher = FrontierHasher(source: source, grid: grid, algorithms: [.sha256])
    #expect(await hasher.outcome() == .failed(.wrongLength(expected: grid.length, found: length)))
  }

  private func subject(
    _ length: Int, _ chunkSize: Int, algorithms: Set<DigestAlgorithm> = [.sha256], hasSums: Bool = true
  ) -> (FakeSource, FrontierHasher) {
    var generator = SeededGenerator(seed: UInt64(length &+ chunkSize))
    let grid = ChunkGrid(length: length, chunkSize: chunkSize)
    let source = FakeSource(generator.bytes(length), grid: grid, hasSums: hasSums)
    return (source, FrontierHasher(source: source, grid: grid, algorithms: algorithms))
  }
}

extension HasherOutcome {
  /// Only the SHA-256 was computed, and it is the one of these bytes.
  fileprivate static func sha256(of bytes: [UInt8]) -> HasherOutcome {
    var digests = DigestSet()
    digests[.sha256] = Digest.sha256(of: bytes)
    return .digests(digests)
  }
}
