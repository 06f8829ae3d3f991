// SPDX-License-Identifier: Apache-2.0

import CPlatform

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The system calls on one blocking TCP socket. It owns nothing: whoever made the descriptor closes it.
struct Socket: Sendable {
  let descriptor: Int32

  /// Wakes every call that blocks on this socket, in any thread.
  func shutDown() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

  func setOption(_ level: Int32, _ name: Int32, _ value: Int32) {
    var value = value
    setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Bytes read; 0 at the end of the stream or after an error.
  func receive(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    while true {
      let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
      if count >= 0 { return count }
      if errno != EINTR { return 0 }
    }
  }

  /// Bytes taken by the kernel, at least 1; nil when the connection is gone. Never raises SIGPIPE.
  func sendSome(_ bytes: UnsafeRawBufferPointer) -> Int? {
    #if canImport(Glibc)
    let flags = Int32(MSG_NOSIGNAL)
    #else
    let flags: Int32 = 0  // SO_NOSIGPIPE is set on the socket.
    #endif
    while true {
      let count = send(descriptor, bytes.baseAddress, bytes.count, flags)
      if count > 0 { return count }
      if count < 0 && errno == EINTR { continue }
      return nil
    }
  }

  enum Wake { case time, input, gone }

  /// Waits at most so long (nil: for ever) for what `noticing` names. A connection that is reset, or shut
  /// down by `shutDown`, always ends it as `.gone`.
  func rest(nanoseconds: Int?, noticing: Noticing) -> Wake {
    let deadline = nanoseconds.map { Clock.monotonic() + $0 }
    while true {
      var entry = pollfd(fd: descriptor, events: noticing.rawValue, revents: 0)
      var milliseconds: Int32 = -1
      if let deadline {
        milliseconds = Int32(min(max(0, deadline - Clock.monotonic() + 999_999) / 1_000_000, 1_000_000))
      }
      guard poll(&entry, 1, milliseconds) > 0 else {
        // Only now: the shortest rest looks at the socket once, too.
        if let deadline, Clock.monotonic() >= deadline { return .time }
        continue
      }
      if noticing.contains(.input), entry.revents & Int16(POLLIN) != 0 { return .input }
      return .gone
    }
  }

  struct Noticing: OptionSet {
    let rawValue: Int16
    static let input = Noticing(rawValue: Int16(POLLIN))
    #if os(Linux)
    /// The client's FIN. POLLRDHUP, which the Glibc module does not show.
    static let hangUp = Noticing(rawValue: 0x2000)
    #else
    static let hangUp: Noticing = []
    #endif
  }

  /// Closes in order: FIN, then the descriptor. What the client sent meanwhile is read first, because closing
  /// a socket with unread input sends a RST, which can destroy the answer on its way.
  func finish() {
    _ = shutdown(descriptor, Int32(SHUT_WR))
    withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { buffer in
      for _ in 0..<64 {
        if recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)) <= 0 { break }
      }
    }
    close(descriptor)
  }

  /// Closes with a RST, after waiting up to a second for what was sent to be acknowledged.
  func reset() {
    for _ in 0..<1000 where haul_unacknowledged(descriptor) > 0 { poll(nil, 0, 1) }
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    close(descriptor)
  }
}
