// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HaulOrigin

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Clients that are no clients, many of them, and the end. Serialized: one test counts descriptors.
@Suite(.serialized) struct RobustnessTests {
  @Test(
    "noise gets 400 or 505 and a closed connection",
    arguments: ["\r\n\u{16}\u{3}\r\n\r\n", "GET / HTTP/3\r\n\r\n", "a b c\r\n\r\n"])
  func noise(text: String) throws {
    try withOrigin([:]) { origin in
      let client = try RawClient(origin)
      client.send(text)
      let status = try client.response().status
      #expect(status == 400 || status == 505)
      #expect(client.readToEnd().isEmpty)
    }
  }

  @Test("a head without end gets 431")
  func endless() throws {
    try withOrigin([:]) { origin in
      let client = try RawClient(origin)
      client.send("GET / HTTP/1.1\r\nX: " + String(repeating: "x", count: HeadReader.limit))
      #expect(try client.response().status == 431)
    }
  }

  @Test("a request in single bytes is still a request")
  func drip() throws {
    try withOrigin(["/f": .reference(seed: 1, length: 10)]) { origin in
      let client = try RawClient(origin)
      for byte in "\r\nGET /f HTTP/1.1\r\nHost: x\r\n\r\n".utf8 { client.send([byte]) }
      #expect(try client.response().body.count == 10)
    }
  }

  @Test("random bytes never bring it down", arguments: 0..<50)
  func random(seed: UInt64) throws {
    try withOrigin(["/f": .reference(seed: 1, length: 10)]) { origin in
      do {
        let client = try RawClient(origin)
        client.send(ReferenceContent(seed: seed, length: 4096).bytes(in: 0..<4096))
        client.send("\r\n\r\n")
      }
      #expect(try RawClient(origin).request("/f").status == 200)
    }
  }

  @Test("three hundred connections at once, and all of them come and go")
  func many() throws {
    var resource = OriginResource.reference(seed: 1, length: 1000)
    resource.gate = .init("go", at: 500)
    try withOrigin(["/f": resource]) { origin in
      do {
        let clients = try (0..<300).map { _ in try RawClient(origin) }
        for client in clients { client.ask("/f") }
        #expect(origin.waitUntil { $0.requests.count { $0.heldAt == "go" } == 300 })
        origin.openGate("go")
        for client in clients { #expect(try client.response().body.count == 1000) }
        #expect(origin.journal().peakConnections == 300)
      }
      #expect(origin.waitUntil { $0.openConnections == 0 })
    }
  }

  @Test("stopping twice, stopping unstarted and forgetting to stop are all right")
  func stops() throws {
    let origin = Origin()
    origin.stop()
    try origin.start()
    let client = try RawClient(origin)
    origin.stop()
    origin.stop()
    #expect(client.readToEnd().isEmpty && origin.port == 0)
    try Origin().start()
  }

  #if os(Linux)
  @Test("its descriptors are close-on-exec")
  func closeOnExec() throws {
    try withOrigin(["/f": .reference(seed: 1, length: 10)]) { origin in
      let client = try RawClient(origin)
      #expect(try client.request("/f").status == 200)
      let port = origin.port
      var seen = 0
      for descriptor in Int32(3)..<1024 where localPort(descriptor) == port {
        seen += 1
        #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
      }
      #expect(seen == 2, "the listener and one connection")
      origin.stop()
      #expect((Int32(3)..<1024).allSatisfy { localPort($0) != port }, "nothing is left open")
    }
  }

  private func localPort(_ descriptor: Int32) -> UInt16? {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
    }
    return code == 0 && address.sin_family == AF_INET ? UInt16(bigEndian: address.sin_port) : nil
  }
  #endif
}
