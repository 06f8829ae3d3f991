// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What the tests of every module stand on.
@Suite("TestSupport")
struct TestSupportTests {
  @Test("the generator is splitmix64")
  func generator() {
    var generator = SeededGenerator(seed: 1_234_567)
    #expect(generator.next() == 6_457_827_717_110_365_317)
    #expect(generator.next() == 3_203_168_211_198_807_973)
    #expect(generator.bytes(13).count == 13)
  }

  @Test("a temporary directory goes with all that is in it, and follows no link")
  func temporaryDirectory() throws {
    let outer = try TemporaryDirectory()
    let canary = outer.path(of: "canary")
    #expect(mkdir(canary, 0o700) == 0)
    let path = try {
      let inner = try TemporaryDirectory()
      #expect(mkdir(inner.path(of: "sub"), 0o700) == 0)
      #expect(mkdir(inner.path(of: "sub/deep"), 0o000) == 0)
      #expect(symlink(canary, inner.path(of: "sub/link")) == 0)
      #expect(mkfifo(inner.path(of: "fifo"), 0o600) == 0)
      return inner.path
    }()
    #expect(access(path, F_OK) != 0)
    #expect(access(canary, F_OK) == 0)
    outer.close()
    outer.close()
    #expect(access(outer.path, F_OK) != 0)
  }
}
