// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HaulOrigin

struct LimitTests {
  private func configured(_ change: (inout OriginConfiguration) -> Void) -> OriginConfiguration {
    var configuration = OriginConfiguration()
    change(&configuration)
    return configuration
  }

  @Test("a connection over the limit gets its status and is closed; a freed place is given again")
  func connections() throws {
    let configuration = configured {
      $0.connectionLimit = .init(1, refusal: .status(429, retryAfter: "3"))
    }
    try withOrigin(["/f": .reference(seed: 1, length: 10)], configuration: configuration) { origin in
      do {
        let first = try RawClient(origin)
        #expect(try first.request("/f").status == 200)
        let second = try RawClient(origin)
        let refused = try second.request("/f")
        #expect(refused.status == 429 && refused["Retry-After"] == "3")
        #expect(second.readToEnd().isEmpty && second.end == .closed)
        #expect(try first.request("/f").status == 200)
      }
      #expect(origin.waitUntil { $0.openConnections == 0 })
      #expect(try RawClient(origin).request("/f").status == 200)
      let journal = origin.journal()
      #expect(journal.connectionsAccepted == 3 && journal.connectionsRefused == 1)
    }
  }

  @Test("a connection over the limit can be reset")
  func reset() throws {
    let configuration = configured { $0.connectionLimit = .init(0, refusal: .reset) }
    try withOrigin(["/f": .reference(seed: 1, length: 10)], configuration: configuration) { origin in
      let client = try RawClient(origin)
      client.ask("/f")
      #expect(client.readToEnd().isEmpty && client.end == .reset)
      #expect(origin.waitUntil { $0.connectionsRefused == 1 && $0.openConnections == 0 })
    }
  }

  @Test("a request over the limit is refused and its connection lives on")
  func requests() throws {
    var held = OriginResource.reference(seed: 1, length: 10)
    held.gate = .init("g", at: 0)
    let configuration = configured { $0.requestLimit = .init(1) }
    try withOrigin(["/f": held], configuration: configuration) { origin in
      let first = try RawClient(origin)
      first.ask("/f")
      #expect(origin.waitUntil { $0.requests.last?.heldAt == "g" })
      let second = try RawClient(origin)
      #expect(try second.request("/f").status == 503)
      origin.openGate("g")
      #expect(try first.response().status == 200)
      #expect(origin.waitUntilIdle())
      #expect(try second.request("/f").status == 200)
      #expect(origin.journal().peakRequests == 2)
    }
  }

  @Test("a connection closes after its number of requests")
  func requestsPerConnection() throws {
    let configuration = configured { $0.requestsPerConnection = 2 }
    try withOrigin(["/f": .reference(seed: 1, length: 10)], configuration: configuration) { origin in
      let client = try RawClient(origin)
      #expect(try client.request("/f")["Connection"] == nil)
      #expect(try client.request("/f")["Connection"] == "close")
      #expect(client.readToEnd().isEmpty && client.end == .closed)
    }
  }

  @Test("an idle connection closes")
  func idle() throws {
    let configuration = configured { $0.idleTimeout = 1 }
    try withOrigin([:], configuration: configuration) { origin in
      let client = try RawClient(origin)
      #expect(client.readToEnd().isEmpty && client.end == .closed)
    }
  }

  /// The journal's own times decide, so that a slow machine can only make the rate lower, never the test
  /// fail.
  @Test("the cap is the connection's: many small requests are no faster than one", arguments: [1, 20])
  func perConnection(requests: Int) throws {
    let rate = 2_000_000
    let resource = OriginResource.reference(seed: 1, length: 200_000, bytesPerSecond: rate)
    try withOrigin(["/f": resource]) { origin in
      let client = try RawClient(origin)
      let part = 200_000 / requests
      for index in 0..<requests {
        let range = index * part..<(index + 1) * part
        let response = try client.request("/f", ["Range: bytes=\(range.lowerBound)-\(range.upperBound - 1)"])
        #expect(response.body.count == part)
      }
      #expect(origin.waitUntilIdle())
      let records = origin.requests()
      let elapsed = try #require(records.last?.ended) - records[0].started
      #expect(Double(elapsed) >= (200_000 / Double(rate) - 0.020) * 1e9)
    }
  }

  @Test("a request without a cap in between does not renew the bucket")
  func noFreshBucket() throws {
    let capped = OriginResource.reference(seed: 1, length: 10_000, bytesPerSecond: 2_000_000)
    try withOrigin(["/f": capped, "/free": .reference(seed: 1, length: 1)]) { origin in
      let client = try RawClient(origin)
      for _ in 0..<20 {
        #expect(try client.request("/f").body.count == 10_000)
        #expect(try client.request("/free").status == 200)
      }
      #expect(origin.waitUntilIdle())
      let records = origin.requests()
      let elapsed = try #require(records.last?.ended) - records[0].started
      #expect(elapsed >= 80_000_000)
    }
  }

  @Test("the total cap holds for all connections together")
  func total() throws {
    let configuration = configured { $0.bytesPerSecondTotal = 4_000_000 }
    try withOrigin(["/f": .reference(seed: 1, length: 100_000)], configuration: configuration) { origin in
      let clients = try (0..<4).map { _ in try RawClient(origin) }
      for client in clients { client.ask("/f") }
      for client in clients { #expect(try client.response().body.count == 100_000) }
      #expect(origin.waitUntilIdle())
      let records = origin.requests()
      let elapsed = (records.compactMap(\.ended).max() ?? 0) - (records.map(\.started).min() ?? 0)
      #expect(Double(elapsed) >= 0.080 * 1e9)
    }
  }

  @Test("a slowed connection stays slow in its later requests")
  func slowed() throws {
    let resource = OriginResource.reference(
      seed: 1, length: 100_000, faults: [Fault.slow(bytesPerSecond: 1_000_000).on(.nth(1))])
    try withOrigin(["/f": resource]) { origin in
      let client = try RawClient(origin)
      _ = try client.request("/f", ["Range: bytes=0-9"])
      #expect(try client.request("/f").body.count == 100_000)
      #expect(origin.waitUntilIdle())
      let record = origin.requests()[1]
      #expect((record.ended ?? 0) - record.started >= 98_000_000)
    }
  }

  @Test("the delay comes before the first byte")
  func delay() throws {
    var resource = OriginResource.reference(seed: 1, length: 10)
    resource.firstByteDelay = 5
    try withOrigin(["/f": resource]) { origin in
      let response = try RawClient(origin).request("/f")
      #expect(response.body.count == 10)
      #expect(origin.waitUntilIdle())
      let record = origin.requests()[0]
      #expect((record.ended ?? 0) - record.started >= 5_000_000)
    }
  }
}
