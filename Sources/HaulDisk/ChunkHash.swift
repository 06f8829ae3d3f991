// SPDX-License-Identifier: Apache-2.0

internal import CXXHash
package import HaulCore

/// XXH3-64 of bytes at hand.
func xxh3(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
  XXH3_64bits_withSeed(bytes.baseAddress, bytes.count, seed)
}

extension ManifestCodec {
  /// The codec with the hash that its format asks for.
  package static let xxh3 = ManifestCodec { HaulDisk.xxh3($0) }
}

/// A running XXH3-64 over bytes that come in order. One owner at a time.
final class ChunkHash {
  private let state: OpaquePointer

  init() {
    guard let state = XXH3_createState() else {
      // As an array that cannot grow: 576 bytes are not to be had, and nothing here could go on.
      preconditionFailure("out of memory")
    }
    self.state = state
  }

  deinit { XXH3_freeState(state) }

  func start(seed: UInt64) { _ = XXH3_64bits_reset_withSeed(state, seed) }
  func add(_ bytes: UnsafeRawBufferPointer) { _ = XXH3_64bits_update(state, bytes.baseAddress, bytes.count) }
  /// The hash of everything since ``start(seed:)``; more may follow.
  var value: UInt64 { XXH3_64bits_digest(state) }
}
