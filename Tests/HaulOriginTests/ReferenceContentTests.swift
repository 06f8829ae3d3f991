// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HaulOrigin

struct ReferenceContentTests {
  @Test("a range holds the same bytes wherever it is cut", arguments: [0, 1, 5, 7, 8, 9, 4095, 1 << 40])
  func cutsAgree(start: Int) {
    let content = ReferenceContent(seed: 7, length: 2 << 40)
    let whole = content.bytes(in: start..<start + 100)
    for cut in 0...100 {
      let parts = content.bytes(in: start..<start + cut) + content.bytes(in: start + cut..<start + 100)
      #expect(parts == whole)
    }
  }

  @Test("where the bytes are put does not change them", arguments: 0..<8)
  func alignment(shift: Int) {
    let content = ReferenceContent(seed: 9, length: 4096)
    var space = [UInt8](repeating: 0, count: 1024)
    space.withUnsafeMutableBytes { space in
      content.fill(UnsafeMutableRawBufferPointer(rebasing: space[shift..<shift + 1000]), at: 16)
    }
    #expect(Array(space[shift..<shift + 1000]) == content.bytes(in: 16..<1016))
    #expect(space[shift + 8] == content.bytes(in: 24..<25)[0])
  }

  @Test("every length from an unaligned start is filled and nothing beyond it", arguments: 0..<40)
  func staysInside(count: Int) {
    var space = [UInt8](repeating: 0xEE, count: 64)
    let content = ReferenceContent(seed: 1, length: 1000)
    space.withUnsafeMutableBytes { space in
      content.fill(UnsafeMutableRawBufferPointer(rebasing: space[3..<3 + count]), at: 13)
    }
    #expect(Array(space[3..<3 + count]) == content.bytes(in: 13..<13 + count))
    #expect((Array(space[..<3]) + Array(space[(3 + count)...])).allSatisfy { $0 == 0xEE })
  }

  @Test("neighbouring seeds and neighbouring blocks have nothing in common")
  func unrelated() {
    let one = ReferenceContent(seed: 1, length: 1 << 30)
    let two = ReferenceContent(seed: 2, length: 1 << 30)
    func words(_ bytes: [UInt8]) -> Set<[UInt8]> {
      Set(stride(from: 0, to: bytes.count, by: 8).map { Array(bytes[$0..<$0 + 8]) })
    }
    let first = words(one.bytes(in: 0..<8000))
    #expect(first.count == 1000)
    #expect(first.isDisjoint(with: words(two.bytes(in: 0..<8000))))
    #expect(first.isDisjoint(with: words(one.bytes(in: 8000..<16_000))))
  }

  @Test("the sequence never changes: recorded sizes and sums of other tests depend on it")
  func pinned() {
    let bytes = ReferenceContent(seed: 42, length: 16).bytes(in: 0..<16)
    #expect(bytes == [227, 90, 111, 120, 80, 217, 158, 178, 4, 114, 16, 101, 186, 250, 225, 87])
  }
}
