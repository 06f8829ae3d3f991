// SPDX-License-Identifier: Apache-2.0

internal import HaulPlatform

#if canImport(Glibc)
package import Glibc
#else
package import Darwin
#endif

/// A process that a test has started: its output, its end, and signals to it and to nobody else.
///
/// Output is read all the time, so that it can never fill a pipe and stop the process. A process that outlives
/// its `lifetime` is killed, so that every wait here ends.
package final class ChildProcess: Sendable {
  /// How a process ended.
  package enum End: Sendable, Equatable {
    case exit(Int32)
    case signal(Int32)
  }

  /// All there is to know afterwards.
  package struct Ended: Sendable {
    package var end: End
    package var stdout: [UInt8]
    package var stderr: [UInt8]

    /// The exit code as a shell shows it.
    package var code: Int32 {
      switch end {
      case .exit(let code): code
      case .signal(let number): 128 + number
      }
    }

    package var output: String { String(decoding: stdout, as: UTF8.self) }
    package var errors: String { String(decoding: stderr, as: UTF8.self) }
  }

  struct State: Sendable {
    var stdout: [UInt8] = []
    var stderr: [UInt8] = []
    var openStreams: Int
    var end: End?
  }

  package let pid: pid_t
  private let state: Monitor<State>

  /// - Parameters:
  ///   - streams: descriptors to read its standard output and its standard error from; without the second one
  ///     both come through the first. They are closed at their end.
  init(pid: pid_t, streams: [Int32], lifetime: Double) {
    self.pid = pid
    let state = Monitor(State(openStreams: streams.count))
    self.state = state
    startThread(name: "child-output") {
      Self.read(streams, into: state, until: monotonicSeconds() + lifetime) {
        Self.signal(SIGKILL, to: pid, state)
      }
    }
    startThread(name: "child-end") { Self.reap(pid, state) }
  }

  deinit { signal(SIGKILL) }

  // MARK: Waiting

  /// Waits for the end of the process and of its output.
  @discardableResult
  package func wait() -> Ended {
    state.wait { state in
      guard let end = state.end, state.openStreams == 0 else { return nil }
      return Ended(end: end, stdout: state.stdout, stderr: state.stderr)
    }
  }

  /// Waits until the output so far satisfies `condition`; false when it has ended without.
  package func waitForOutput(_ condition: (_ stdout: String, _ stderr: String) -> Bool) -> Bool {
    state.wait { state in
      let stdout = String(decoding: state.stdout, as: UTF8.self)
      let stderr = String(decoding: state.stderr, as: UTF8.self)
      if condition(stdout, stderr) { return true }
      return state.openStreams == 0 ? false : nil
    }
  }

  /// Whether it has ended.
  package var hasEnded: Bool { state.withLock { $0.end != nil } }

  // MARK: Signals

  /// Sends a signal to this process; nothing happens when it has ended.
  package func signal(_ number: Int32) { Self.signal(number, to: pid, state) }

  /// Under the lock that the end is noted in: the number of a process that was reaped may be another's.
  private static func signal(_ number: Int32, to pid: pid_t, _ state: Monitor<State>) {
    state.withLock { if $0.end == nil { kill(pid, number) } }
  }

  // MARK: Threads

  private static func reap(_ pid: pid_t, _ state: Monitor<State>) {
    var information = siginfo_t()
    // Looked at first and reaped under the lock, see `signal`.
    while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    state.signal { state in
      var status: Int32 = 0
      while waitpid(pid, &status, 0) < 0, errno == EINTR {}
      let number = status & 0x7f
      state.end = number == 0 ? .exit((status >> 8) & 0xff) : .signal(number)
    }
  }

  private static func read(
    _ descriptors: [Int32], into state: Monitor<State>, until deadline: Double, expired: () -> Void
  ) {
    var polled = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    var isLate = false
    while polled.contains(where: { $0.fd >= 0 }) {
      let left = max(0, deadline - monotonicSeconds())
      if left == 0, !isLate {
        isLate = true
        expired()
      }
      guard poll(&polled, nfds_t(polled.count), isLate ? -1 : Int32(left * 1000) + 1) > 0 else { continue }
      for index in polled.indices where polled[index].fd >= 0 && polled[index].revents != 0 {
        #if canImport(Glibc)
        let count = Glibc.read(polled[index].fd, &buffer, buffer.count)
        #else
        let count = Darwin.read(polled[index].fd, &buffer, buffer.count)
        #endif
        if count < 0, errno == EINTR { continue }
        // A terminal whose other side is closed reads as an error.
        if count <= 0 {
          close(polled[index].fd)
          polled[index].fd = -1
        }
        state.signal { state in
          if count <= 0 {
            state.openStreams -= 1
          } else if index == 0 {
            state.stdout += buffer[..<count]
          } else {
            state.stderr += buffer[..<count]
          }
        }
      }
    }
  }
}

/// A process that could not be started.
package struct SpawnError: Error, CustomStringConvertible {
  package let description: String
}
