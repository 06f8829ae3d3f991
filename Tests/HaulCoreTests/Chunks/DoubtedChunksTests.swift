// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

@Suite struct DoubtedChunksTests {
  @Test("what is doubted while it is struck out is struck out again")
  func again() {
    var doubted = DoubtedChunks()
    #expect(doubted.isEmpty && doubted.beginStrike().isEmpty)
    _ = doubted.doubt([2, 1])
    #expect(!doubted.isEmpty && !doubted.isStriking)
    #expect(doubted.beginStrike() == [1, 2] && doubted.isStriking)
    _ = doubted.doubt([2, 3])
    #expect(doubted.beginStrike().isEmpty, "one after the other")
    #expect(doubted.all == [1, 2, 3])
    doubted.endStrike()
    #expect(!doubted.isEmpty && !doubted.isStriking)
    #expect(doubted.beginStrike() == [2, 3])
    doubted.endStrike()
    #expect(doubted.isEmpty && doubted.all.isEmpty)
  }

  @Test("the third doubt about one chunk is hopeless, any number about others is not")
  func hopeless() {
    var doubted = DoubtedChunks()
    for chunk in 0..<1000 {
      let isHopeless = doubted.doubt(chunk..<chunk + 2)
      #expect(!isHopeless)
    }
    doubted.forgetAll()
    #expect(doubted.isEmpty)
    let isHopeless = doubted.doubt([7])
    #expect(isHopeless, "how often a place was wrong stays")
  }
}
