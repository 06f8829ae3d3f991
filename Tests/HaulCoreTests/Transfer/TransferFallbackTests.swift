// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

private let mib = 1 << 20
private let length = 100 * mib
private let tag = ("ETag", "\"a\"")

@Suite("TransferMachine: what is left when ranges or links stop working")
struct TransferFallbackTests {
  private func running(
    _ count: Int = 2, receiving: Int = 1, _ fields: [(String, String)] = [tag],
    _ tune: (inout TransferSettings) -> Void = { _ in }
  ) -> MachineScript {
    var settings = TransferSettings()
    settings.connections = .fixed(count)
    tune(&settings)
    var script = MachineScript(settings)
    script.accept(0, of: length, fields)
    script.advance()
    for connection in 1..<max(1, receiving) { script.accept(connection, of: length, fields) }
    return script
  }

  private func whole(_ fields: [(String, String)]) -> ResponseHead {
    response(200, [("Content-Length", "\(length)")] + fields)
  }

  /// Lets every request be answered by `head` until the file is asked for without a range, or for `seconds`.
  private func refuseAll(_ script: inout MachineScript, _ head: ResponseHead, seconds: Double = 100) {
    script.run(seconds) { script in
      script.failure != nil || script.requests.values.contains { $0 == nil } || !script.requests.isEmpty
    }
    for _ in 0..<50 where script.failure == nil {
      if script.requests.values.contains(where: { $0 == nil }) { return }
      if let connection = script.requests.keys.min() { script.refuse(connection, head) }
      script.run(seconds) { !$0.requests.isEmpty || $0.failure != nil }
    }
  }

  // MARK: Ranges

  @Test("ranges that are gone: one stream under an equal validator, and nothing is thrown away")
  func stream() {
    var script = running()
    _ = script.bytes(0, 4 * mib)
    script.end(0)
    refuseAll(&script, whole([tag]))
    #expect(script.requests[0] == .some(nil) && script.requests.count == 1)
    #expect(script.startOvers.isEmpty && script.failure == nil)
    #expect(script.head(0, whole([tag])) == .take(offset: 0))
    _ = script.bytes(0, length)
    script.end(0)
    #expect(script.completions == 1)
    #expect(script.machine.canResume(hasTrustedDigest: false))
  }

  @Test("ranges that are gone, and no validator: one stream from a clean start")
  func streamWithoutValidator() {
    var script = running(2, receiving: 1, [])
    _ = script.bytes(0, 4 * mib)
    script.end(0)
    refuseAll(&script, whole([]))
    #expect(script.startOvers.count == 1)
    #expect(script.requests[0] == .some(nil))
    #expect(script.head(0, whole([])) == .take(offset: 0))
    _ = script.bytes(0, length)
    script.end(0)
    #expect(script.completions == 1)
  }

  @Test("a stream of untold length is not joined to what ranges have brought, whatever its tag")
  func streamWithoutLength() {
    var script = running()
    _ = script.bytes(0, 4 * mib)
    script.end(0)
    refuseAll(&script, whole([tag]))
    let chunked = response(200, [("Transfer-Encoding", "chunked"), tag])
    #expect(script.head(0, chunked) == .stop)
    script.end(0, .stopped)
    #expect(script.startOvers.count == 1 && script.failure == nil)
    #expect(script.head(0, chunked) == .take(offset: 0))
    _ = script.bytes(0, length)
    script.end(0)
    #expect(script.completions == 1)
  }

  @Test("ranges that are gone, no validator, but a digest that will tell")
  func streamWithDigest() {
    var script = running(2, receiving: 1, []) { $0.hasTrustedDigest = true }
    _ = script.bytes(0, 4 * mib)
    script.end(0)
    refuseAll(&script, whole([]))
    #expect(script.startOvers.isEmpty)
    #expect(script.head(0, whole([])) == .take(offset: 0))
  }

  @Test("the stream that takes over must be of the same generation")
  func streamOfAnother() {
    var script = running()
    _ = script.bytes(0, 4 * mib)
    script.end(0)
    refuseAll(&script, whole([tag]))
    #expect(script.head(0, whole([("ETag", "\"b\"")])) == .stop)
    script.end(0, .stopped)
    #expect(script.sent[0]?.isFresh == true)
  }

  @Test("strikes beside a connection that stands still do not use up its retries")
  func strikesBesideSilence() {
    var script = running(2, receiving: 1) { $0.retry = RetryPolicy(limit: 1) }
    for _ in 0..<400 where script.cancels == 0 && script.failure == nil {
      if script.requests[1] != nil { script.refuse(1, whole([tag])) }
      script.advance(0.1)
    }
    #expect(script.cancels > 0 && script.failure == nil)
    refuseAll(&script, whole([tag]))
    #expect(script.failure == nil && script.requests[0] == .some(nil))
  }

  @Test("as long as one connection gets parts, ranges are not given up")
  func oneStillWorks() {
    var script = running(3, receiving: 1)
    for _ in 0..<20 {
      for connection in [1, 2] where script.requests[connection] != nil {
        script.refuse(connection, whole([tag]))
      }
      _ = script.bytes(0, 1000)
      script.advance(1)
    }
    #expect(!script.requests.values.contains { $0 == nil })
    #expect(script.failure == nil)
  }

  @Test(
    "one odd answer in mid-file is asked for again as a range",
    arguments: [
      response(206), response(416), response(416, [("Content-Range", "bytes */\(length)")]),
      response(200, [("Content-Length", "\(length)"), tag]),
      response(206, [("Content-Type", "multipart/byteranges; boundary=x")]),
    ])
  func oneStrike(_ head: ResponseHead) {
    var script = running()
    script.refuse(1, head)
    script.run(2) { $0.requests[1] != nil }
    #expect(script.requests[1]??.lower == 4 * mib)
  }

  @Test("an answer that begins too early loses its overlap")
  func overlap() {
    var script = running()
    guard case .some(.some(let range)) = script.requests[1] else { return }
    let early = ByteRange(range.lower - 100, range.upper)
    #expect(script.head(1, part(early, of: length, [tag])) == .take(offset: range.lower, skip: 100))
    #expect(script.bytes(1, range.count) == true)
    script.end(1)
    #expect(script.machine.receivedBytes == range.count)
  }

  @Test("answers that come after the fallback are not taken")
  func late() {
    var script = running(3, receiving: 1)
    _ = script.bytes(0, 4 * mib)
    script.end(0, advances: false)
    // One for the condition and three strikes; the third connection still waits for its answer.
    for _ in 0..<4 {
      script.run(20) { $0.requests[1] != nil }
      script.refuse(1, whole([tag]), advances: false)
    }
    #expect(script.head(2, whole([tag])) == .stop)
    #expect(script.bytes(2, 1000) == false)
    script.run(20) { $0.requests.values.contains { $0 == nil } }
    #expect(script.requests.count == 1)
    #expect(script.head(0, whole([tag])) == .take(offset: 0))
  }

  @Test("a redirect that comes after the fallback is not followed")
  func lateRedirect() {
    var script = running(3, receiving: 1)
    _ = script.bytes(0, 4 * mib)
    script.end(0, advances: false)
    let there = response(302, [("Location", "/there")])
    #expect(script.head(2, there) == .redirect(location: "/there"))
    for _ in 0..<4 {
      script.run(20) { $0.requests[1] != nil }
      script.refuse(1, whole([tag]), advances: false)
    }
    script.follow(2)
    #expect(script.head(2, part(ByteRange(8 * mib, 12 * mib), of: length, [tag])) == .stop)
    script.run(20) { $0.requests.values.contains { $0 == nil } }
    #expect(script.requests.count == 1 && script.failure == nil)
  }

  // MARK: Links

  private let renewable = AnswerPlace(source: "http://cdn/f", isRenewable: true)

  @Test("a link that ran out is renewed once for all connections", arguments: [403, 404, 410])
  func renewal(_ status: Int) {
    var script = running(4, receiving: 1)
    for connection in 1...3 { script.refuse(connection, response(status), place: renewable) }
    #expect(script.sent.values.count { $0.asksOriginal } == 1)
    #expect(script.requests.keys.sorted() == [0, 1], "the others wait")
    script.accept(1, of: length)
    script.advance()
    #expect(script.requests.count == 4)
    #expect(script.sent[2]?.asksOriginal == false)
    #expect(script.failure == nil)
  }

  @Test("a link that does not answer after the renewal either is an error", arguments: [403, 404, 410])
  func renewedInVain(_ status: Int) {
    var script = running(2, receiving: 1)
    _ = script.bytes(0, 4 * mib)
    script.end(0)
    while let connection = script.requests.keys.max(), script.failure == nil {
      script.refuse(connection, response(status), place: renewable)
    }
    #expect(script.failure?.kind == .refused(status: status))
    #expect(script.asked.count <= 5)
  }

  @Test("each link that brought bytes may be renewed, however soon it ends")
  func renewedOften() {
    var script = running(1, receiving: 1)
    _ = script.bytes(0, 4 * mib)
    script.end(0)
    for _ in 0..<10 {
      script.refuse(0, response(403), place: renewable)
      #expect(script.sent[0]?.asksOriginal == true)
      script.accept(0, of: length)
      _ = script.bytes(0, 4 * mib)
      script.end(0)
    }
    #expect(script.failure == nil)
  }

  @Test("a server that only wants fewer connections is asked for a new link once, then there are fewer")
  func renewalOrLimit() {
    var script = running(4, receiving: 1)
    script.refuse(3, response(403), place: renewable)
    script.accept(3, of: length)
    for connection in [1, 2] { script.refuse(connection, response(403), place: renewable) }
    script.advance()
    for connection in [1, 2] where script.requests[connection] != nil {
      script.refuse(connection, response(403), place: renewable)
    }
    #expect(script.requests.keys.sorted() == [0, 3])
    #expect(script.failure == nil)
  }

  @Test("where there is nothing to renew, no means no")
  func nothingToRenew() {
    var script = running(2, receiving: 1)
    script.refuse(1, response(404))
    #expect(script.failure?.kind == .refused(status: 404))
  }
}
