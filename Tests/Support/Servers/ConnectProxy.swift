// SPDX-License-Identifier: Apache-2.0

internal import CPlatform
internal import HaulPlatform

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A proxy on 127.0.0.1 that knows CONNECT alone and answers it with whatever head a test gives it. Every tunnel
/// ends at one port of 127.0.0.1, wherever it was meant to go.
package final class ConnectProxy: Sendable {
  package let port: UInt16
  private let listener: Int32

  /// - Parameters:
  ///   - answer: the head that it sends, with its empty line.
  ///   - target: the port at the far end.
  package init(answer: String, target: UInt16) throws(SpawnError) {
    port = ServerSite.freePort()
    guard let listener = Self.socket(on: port, bind), listen(listener, 16) == 0 else {
      throw SpawnError(description: "no port for a proxy")
    }
    self.listener = listener
    startThread(name: "proxy") {
      var client: Int32 = -1
      while haul_accept(listener, &client) == 0 {
        let client = client
        startThread(name: "proxy-tunnel") { Self.serve(client, answer, target) }
      }
      close(listener)
    }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  /// `attach`: bind or connect.
  private static func socket(
    on port: UInt16, _ attach: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32
  ) -> Int32? {
    var descriptor: Int32 = -1
    guard haul_tcp_socket(&descriptor) == 0 else { return nil }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        attach(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if code == 0 { return descriptor }
    close(descriptor)
    return nil
  }

  private static func serve(_ client: Int32, _ answer: String, _ target: UInt16) {
    defer { close(client) }
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    // A client sends no more than this before it has its answer, and this is short enough to come at once.
    guard read(client, &buffer, buffer.count) > 0, let server = socket(on: target, connect) else { return }
    defer { close(server) }
    guard pass(Array(answer.utf8)[...], to: client) else { return }
    var ends = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while poll(&ends, 2, -1) > 0 {
      for index in ends.indices where ends[index].revents != 0 {
        let count = read(ends[index].fd, &buffer, buffer.count)
        guard count > 0, pass(buffer[..<count], to: ends[1 - index].fd) else { return }
      }
    }
  }

  private static func pass(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      // SIGPIPE is blocked on these threads.
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}
