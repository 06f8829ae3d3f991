// SPDX-License-Identifier: Apache-2.0

import CPlatform

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The listening socket on 127.0.0.1 and the pipe that ends waiting on it.
struct Listener: Sendable {
  let port: UInt16
  private let socket: Int32
  private let wakeRead: Int32
  private let wakeWrite: Int32

  init(port: UInt16) throws(OriginError) {
    var socket: Int32 = -1
    try Self.check("socket", haul_tcp_socket(&socket))
    var ends: [Int32] = [-1, -1]
    do throws(OriginError) {
      var one: Int32 = 1
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
      self.port = try Self.bindLoopback(socket, port)
      try Self.check("listen", listen(socket, 1024) == 0 ? 0 : errno)
      try Self.check("pipe", haul_pipe(&ends))
    } catch {
      close(socket)
      throw error
    }
    self.socket = socket
    wakeRead = ends[0]
    wakeWrite = ends[1]
  }

  enum Arrival {
    case connection(Int32)
    case nothing
    case woken
  }

  /// Blocks until a connection arrives or `wake` is called.
  func next() -> Arrival {
    var entries = [
      pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
      pollfd(fd: wakeRead, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&entries, 2, -1) > 0 else { return .nothing }
    if entries[1].revents != 0 { return .woken }
    var connection: Int32 = -1
    let code = haul_accept(socket, &connection)
    if code == 0 { return .connection(connection) }
    // Out of descriptors: the connection stays in the queue, so wait a little instead of spinning.
    if code == EMFILE || code == ENFILE { poll(&entries[1], 1, 10) }
    return .nothing
  }

  func wake() {
    var byte: UInt8 = 1
    _ = write(wakeWrite, &byte, 1)
  }

  /// Closes all three descriptors; only after the accepting thread has been joined.
  func closeAll() {
    for descriptor in [socket, wakeRead, wakeWrite] { close(descriptor) }
  }

  /// Binds and returns the port that was given.
  private static func bindLoopback(_ socket: Int32, _ port: UInt16) throws(OriginError) -> UInt16 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        bind(socket, generic, size) == 0 && getsockname(socket, generic, &size) == 0 ? 0 : errno
      }
    }
    try check("bind", code)
    return UInt16(bigEndian: address.sin_port)
  }

  private static func check(_ operation: String, _ code: Int32) throws(OriginError) {
    if code != 0 { throw OriginError(operation: operation, code: code) }
  }
}
