// SPDX-License-Identifier: Apache-2.0

/// Pseudo-random bytes of any length that need no memory: every byte is a pure function of (seed, offset), so
/// a test can say what byte 900 000 000 000 must be without having the file.
package struct ReferenceContent: Sendable, Hashable {
  package let seed: UInt64
  /// Length in bytes. May be far larger than memory or disk.
  package let length: Int

  package init(seed: UInt64, length: Int) {
    self.seed = seed
    self.length = max(0, length)
  }

  /// Fills `buffer` with the bytes from `offset` (0 or more). Goes on past `length`: the sequence has no end
  /// of its own, which the faults that send too much rely on.
  package func fill(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) {
    guard var target = buffer.baseAddress else { return }
    var remaining = buffer.count
    var word = UInt64(offset) / 8
    let skipped = offset % 8
    if skipped != 0 {
      let count = min(8 - skipped, remaining)
      Self.copy(value(ofWord: word), from: skipped, count: count, to: target)
      target += count
      remaining -= count
      word += 1
    }
    let whole = remaining / 8
    fillWords(target, count: whole, first: word)
    if remaining % 8 != 0 {
      Self.copy(value(ofWord: word &+ UInt64(whole)), from: 0, count: remaining % 8, to: target + whole * 8)
    }
  }

  /// The bytes of a half-open range of offsets, in memory.
  package func bytes(in range: Range<Int>) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
      fill(
        UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<range.count]),
        at: range.lowerBound)
      count = range.count
    }
  }

  private static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

  /// Mixed once, so that neighbouring seeds are not shifted copies of each other.
  private var base: UInt64 { Self.mix(seed &+ Self.step) }

  private func value(ofWord index: UInt64) -> UInt64 {
    Self.mix(base &+ index &* Self.step).littleEndian
  }

  /// The hot loop. Debug builds inline nothing but plain arithmetic and typed stores, so the aligned case is
  /// written with only these: tests move gigabytes, too.
  private func fillWords(_ target: UnsafeMutableRawPointer, count: Int, first: UInt64) {
    guard UInt(bitPattern: target) % 8 == 0, UInt16(1).littleEndian == 1 else {
      for index in 0..<count {
        (target + index * 8).storeBytes(of: value(ofWord: first &+ UInt64(index)), as: UInt64.self)
      }
      return
    }
    let words = target.assumingMemoryBound(to: UInt64.self)
    var state = base &+ first &* Self.step
    let step = Self.step
    var index = 0
    while index != count {
      var mixed = state
      mixed = (mixed ^ (mixed &>> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed &>> 27)) &* 0x94D0_49BB_1331_11EB
      (words + index).pointee = mixed ^ (mixed &>> 31)
      state = state &+ step
      index &+= 1
    }
  }

  /// The finalizer of SplitMix64 (Steele, Lea, Flood 2014).
  private static func mix(_ value: UInt64) -> UInt64 {
    var mixed = value
    mixed = (mixed ^ (mixed &>> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed &>> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed &>> 31)
  }

  private static func copy(_ word: UInt64, from start: Int, count: Int, to target: UnsafeMutableRawPointer) {
    withUnsafeBytes(of: word) { bytes in
      if let source = bytes.baseAddress { target.copyMemory(from: source + start, byteCount: count) }
    }
  }
}
