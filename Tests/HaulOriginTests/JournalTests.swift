// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HaulOrigin

struct JournalTests {
  @Test("every request is recorded with what was asked and what was sent")
  func records() throws {
    try withOrigin(["/f": .reference(seed: 1, length: 1000), "/g": .reference(seed: 2, length: 50)]) {
      origin in
      let first = try RawClient(origin)
      let second = try RawClient(origin)
      _ = try first.request("/f", ["Range: bytes=0-99", "X-Mine: a"])
      _ = try second.request("/f", ["Range: bytes=50-149"])
      _ = try first.request("/f", ["Range: bytes=900-"])
      _ = try second.request("/g")
      #expect(origin.waitUntilIdle())
      let journal = origin.journal()
      #expect(journal.requests.map(\.sequence) == [0, 1, 2, 3])
      #expect(journal.requests.map(\.connection) == [1, 2, 1, 2])
      #expect(journal.requests.map(\.status) == [206, 206, 206, 200])
      #expect(journal.requests[0].fields["x-mine"] == "a")
      #expect(journal.requests.allSatisfy { $0.outcome == .completed && $0.ended ?? 0 >= $0.started })
      #expect(journal.requestedRanges(path: "/f") == [.closed(0, 99), .closed(50, 149), .from(900)])
      #expect(journal.bodyBytesSent(path: "/f") == 300 && journal.bodyBytesSent() == 350)
      #expect(journal.sentRanges(path: "/f") == [0..<150, 900..<1000])
      #expect(journal.distinctBytesSent(path: "/f") == 250)
      #expect(journal.connectionsAccepted == 2 && journal.peakConnections == 2)
    }
  }

  @Test("a gate holds the body at its byte until it is opened")
  func gate() throws {
    var resource = OriginResource.reference(seed: 1, length: 1000)
    resource.gate = OriginResource.Gate("middle", at: 400)
    try withOrigin(["/f": resource]) { origin in
      let client = try RawClient(origin)
      client.ask("/f")
      #expect(try client.head().status == 200)
      #expect(client.read(400).count == 400)
      #expect(origin.waitUntil { $0.requests.last?.heldAt == "middle" })
      #expect(origin.requests()[0].bodyBytesSent == 400)
      origin.openGate("middle")
      #expect(client.read(600) == ReferenceContent(seed: 1, length: 1000).bytes(in: 400..<1000))
      #expect(try client.request("/f").body.count == 1000, "an open gate stays open")
    }
  }

  @Test("a gate at byte 0 lets the head through; stopping frees who waits there")
  func gateAtStart() throws {
    let resource = OriginResource.reference(
      seed: 1, length: 1000, faults: [Fault.gate("start", at: 0).on(.every)])
    try withOrigin(["/f": resource]) { origin in
      let client = try RawClient(origin)
      client.ask("/f")
      #expect(try client.head().status == 200)
      origin.stop()
      #expect(client.readToEnd().isEmpty)
      #expect(origin.requests()[0].outcome == .aborted)
    }
  }

  @Test("waiting ends with false when the time is up")
  func timeout() throws {
    try withOrigin([:]) { origin in
      #expect(!origin.waitUntil(timeout: .milliseconds(1)) { $0.connectionsAccepted == 1 })
    }
  }

  @Test("a client that goes away is an aborted request")
  func abandoned() throws {
    try withOrigin(["/f": .reference(seed: 1, length: 1 << 40)]) { origin in
      do {
        let client = try RawClient(origin)
        client.ask("/f", ["Range: bytes=1000000000-"])
        _ = try client.head()
        #expect(
          client.read(8)
            == ReferenceContent(seed: 1, length: 1 << 40).bytes(in: 1_000_000_000..<1_000_000_008))
      }
      #expect(origin.waitUntil { $0.openConnections == 0 })
      let record = origin.requests()[0]
      #expect(record.outcome == .aborted && record.bodyBytesSent > 0)
    }
  }
}
