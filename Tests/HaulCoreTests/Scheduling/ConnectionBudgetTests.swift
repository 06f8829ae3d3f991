// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

@Suite("ConnectionBudget")
struct ConnectionBudgetTests {
  /// A budget and the world that it measures, tick by tick.
  private struct Path {
    var budget = ConnectionBudget(.automatic)
    var now = 0.0
    var bytes = 0.0
    var roundTrip = 0.01
    /// Bytes a second with so many connections.
    var goodput: (Int) -> Double

    init(_ choice: ConnectionBudget.Choice = .automatic, goodput: @escaping (Int) -> Double) {
      budget = ConnectionBudget(choice)
      self.goodput = goodput
    }

    /// - Parameter idle: how many of those allowed do not receive in the tick with this number.
    mutating func run(seconds: Double, idle: (Int) -> Int = { _ in 0 }) {
      for tick in 0..<Int(seconds * 10) {
        now += 0.1
        let busy = max(0, budget.allowed - idle(tick))
        bytes += goodput(busy) / 10
        budget.measure(bytes: Int(bytes), busy: busy, roundTrip: roundTrip, now: now)
      }
    }
  }

  @Test("starts with eight and doubles up to sixty-four while that pays")
  func doubles() {
    var path = Path { Double($0) * 1e6 }
    #expect(path.budget.allowed == 8)
    #expect(path.budget.most == 64)
    path.run(seconds: 0.3)
    #expect(path.budget.allowed == 16)
    path.run(seconds: 0.4)
    #expect(path.budget.allowed == 32)
    path.run(seconds: 100)
    #expect(path.budget.allowed == 64)
  }

  @Test("beyond sixteen a doubling has to bring a third more", arguments: [(1.2, 32), (1.4, 64)])
  func thirdMore(_ gain: Double, _ expected: Int) {
    var path = Path { count in
      switch count {
      case ..<32: Double(count) * 1e6
      case 32: 16e6 * gain
      default: 16e6 * gain * gain
      }
    }
    path.run(seconds: 1.9)
    #expect(path.budget.allowed == expected)
  }

  @Test("a step that brought nothing ends the climb, and is not taken back")
  func ends() {
    var path = Path { _ in 1e6 }
    path.run(seconds: 1.9)
    #expect(path.budget.allowed == 16)
    let sheds = path.budget.takeShedding()
    #expect(!sheds)
  }

  @Test("a climb that has ended is tried again, after longer and longer pauses")
  func triesAgain() {
    var path = Path { _ in 1e6 }
    path.run(seconds: 1)
    path.goodput = { Double($0) * 1e6 }
    path.run(seconds: 10)
    #expect(path.budget.allowed == 64)
  }

  @Test("a step after which the total falls is taken back at once, and never taken again")
  func punished() {
    var path = Path { Double($0 > 8 ? 2 : $0) * 1e6 }
    path.run(seconds: 0.9)
    #expect(path.budget.allowed == 8)
    let (first, second) = (path.budget.takeShedding(), path.budget.takeShedding())
    #expect(first && !second, "told once")
    path.run(seconds: 100)
    #expect(path.budget.allowed == 8)
  }

  @Test("a step is judged in round trips")
  func longPath() {
    var path = Path { Double($0) * 1e6 }
    path.roundTrip = 0.3
    path.run(seconds: 0.8)
    #expect(path.budget.allowed == 8)
    path.run(seconds: 0.4)
    #expect(path.budget.allowed == 16)
    path.run(seconds: 1.2)
    #expect(path.budget.allowed == 16)
    path.run(seconds: 1)
    #expect(path.budget.allowed == 32)
  }

  @Test("a window with too few connections in it decides nothing")
  func idleWindow() {
    var path = Path { Double($0) * 1e6 }
    path.run(seconds: 5) { _ in 4 }
    #expect(path.budget.allowed == 8)
    path.run(seconds: 1)
    #expect(path.budget.allowed > 8)
  }

  @Test("one connection between two requests now and then does not hold up the climb")
  func gaps() {
    var path = Path { Double($0) * 1e6 }
    path.roundTrip = 0.1
    path.run(seconds: 3) { $0 % 3 == 2 ? 1 : 0 }
    #expect(path.budget.allowed > 8)
  }

  @Test("a refusal ends the climb at what works")
  func refused() {
    var path = Path { Double($0) * 1e6 }
    path.run(seconds: 0.6)
    path.budget.refused(healthy: 3, wait: 0, now: path.now)
    #expect(path.budget.allowed == 3)
    path.run(seconds: 9)
    #expect(path.budget.allowed == 3)
  }

  @Test("at least one is always allowed")
  func atLeastOne() {
    var budget = ConnectionBudget(.automatic)
    budget.refused(healthy: 0, wait: 0, now: 0)
    #expect(budget.allowed == 1)
    #expect(ConnectionBudget(.fixed(0)).allowed == 1)
    #expect(ConnectionBudget(.fixed(0)).most == 1)
  }

  @Test("a refusal never raises the count")
  func refusedAbove() {
    var budget = ConnectionBudget(.fixed(4))
    budget.refused(healthy: 9, wait: 0, now: 0)
    #expect(budget.allowed == 4)
  }

  @Test("later one more is tried at a time, up to what was there before", arguments: [0.0, 60])
  func recovers(_ wait: Double) {
    var path = Path(.fixed(6)) { Double($0) * 1e6 }
    path.budget.refused(healthy: 2, wait: wait, now: 0)
    path.run(seconds: max(wait, 10) - 0.5)
    #expect(path.budget.allowed == 2)
    path.run(seconds: 1)
    #expect(path.budget.allowed == 3)
    path.run(seconds: 10)
    #expect(path.budget.allowed == 4)
    path.run(seconds: 100)
    #expect(path.budget.allowed == 6)
  }

  @Test("a second refusal starts the wait again")
  func refusedAgain() {
    var path = Path(.fixed(6)) { Double($0) * 1e6 }
    path.budget.refused(healthy: 2, wait: 0, now: 0)
    path.run(seconds: 10.1)
    #expect(path.budget.allowed == 3)
    path.budget.refused(healthy: 2, wait: 0, now: path.now)
    #expect(path.budget.allowed == 2)
    path.run(seconds: 9)
    #expect(path.budget.allowed == 2)
  }

  @Test("a number that was asked for is kept", arguments: [1, 5, 64])
  func fixed(_ count: Int) {
    var path = Path(.fixed(count)) { _ in 1e6 }
    path.run(seconds: 20)
    #expect(path.budget.allowed == count)
    #expect(path.budget.most == count)
  }
}
