// SPDX-License-Identifier: Apache-2.0

import HaulPlatform
import Synchronization

/// Runs blocking work on threads of its own, a few at a time: the threads that tests run on are as few as the
/// cores, and a test that blocks one keeps others waiting. Most cases wait (for a retry, for silence), so there may
/// be more of them than cores; but not so many that they starve each other.
enum Turns {
  private static let most = 4

  private struct State: Sendable {
    var running = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private static let state = Mutex(State())

  /// Expectations do not belong into `work`: on its thread they cannot find their test.
  static func take<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    await enter()
    defer { leave() }
    return try await withCheckedThrowingContinuation { continuation in
      startThread(name: "catalogue-case") { continuation.resume(with: Result(catching: work)) }
    }
  }

  private static func enter() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.running >= most else {
          state.running += 1
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  /// A turn goes straight to the next in line.
  private static func leave() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.running -= 1
      return nil
    }
    next?.resume()
  }
}
