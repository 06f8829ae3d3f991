// SPDX-License-Identifier: Apache-2.0

internal import CXXHash

/// The sum of one chunk, fed in pieces: XXH3-64 with a seed.
package final class ChunkSum {
  private let state: OpaquePointer

  package init(seed: UInt64) {
    // Nil only where 576 bytes cannot be had: nothing else would work then either.
    guard let state = XXH3_createState() else { preconditionFailure("no memory for a sum") }
    self.state = state
    XXH3_64bits_reset_withSeed(state, seed)
  }

  deinit {
    XXH3_freeState(state)
  }

  package func update(_ bytes: UnsafeRawBufferPointer) {
    XXH3_64bits_update(state, bytes.baseAddress, bytes.count)
  }

  package var value: UInt64 { Self.stored(XXH3_64bits_digest(state)) }

  /// As it stands in the manifest, where 0 means that there is none.
  static func stored(_ raw: UInt64) -> UInt64 { raw == 0 ? 1 : raw }
}
