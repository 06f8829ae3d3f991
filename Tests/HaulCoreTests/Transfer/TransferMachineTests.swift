// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

private let mib = 1 << 20
private let tag = ("ETag", "\"a\"")

/// Beginnings, wholes and resumes. Failures have a file of their own.
@Suite("TransferMachine")
struct TransferMachineTests {
  // MARK: Ranges

  @Test("a small file costs exactly one request", arguments: [1, 1000, 4 * mib])
  func small(_ length: Int) {
    var script = MachineScript()
    #expect(script.asked == [ByteRange(0, 4 * mib)])
    script.accept(0, of: length)
    script.advance()
    #expect(script.bytes(0, length) == true)
    script.end(0)
    #expect(script.completions == 1)
    #expect(script.asked.count == 1)
    #expect(script.machine.receivedBytes == length)
    #expect(script.machine.resource?.length == length)
    #expect(script.machine.canResume(hasTrustedDigest: false))
  }

  @Test("the others start as soon as the first head is there, and everything is fetched once")
  func large() {
    var script = MachineScript()
    script.accept(0, of: 100 * mib)
    script.advance()
    #expect(script.machine.busyConnections == 8)
    #expect(script.asked.dropFirst().first == ByteRange(4 * mib, 8 * mib))
    #expect(script.bytes(0, 4 * mib) == true)
    script.end(0)
    script.serveAll(of: 100 * mib)
    #expect(script.completions == 1)
    #expect(script.machine.receivedBytes == 100 * mib)
    #expect(script.machine.retryCount == 0)
  }

  @Test("as many connections as were asked for", arguments: [1, 2, 16, 40])
  func fixed(_ count: Int) {
    var settings = TransferSettings()
    settings.connections = .fixed(count)
    var script = MachineScript(settings)
    #expect(script.machine.mostConnections == count)
    script.accept(0, of: 1000 * mib)
    script.advance()
    #expect(script.machine.busyConnections == count)
  }

  @Test("a part that is shorter than asked is gone on from")
  func short() {
    var script = MachineScript()
    _ = script.head(0, part(ByteRange(0, 100), of: 1000))
    #expect(script.bytes(0, 100) == true)
    script.end(0)
    #expect(script.requests[0] == ByteRange(100, 1000))
    script.serveAll(of: 1000)
    #expect(script.completions == 1)
    #expect(script.machine.receivedBytes == 1000)
  }

  @Test("of a part that is longer than asked only the range is taken")
  func long() {
    var script = MachineScript()
    let decision = script.head(0, part(ByteRange(0, 100 * mib), of: 100 * mib))
    #expect(decision == .take(offset: 0))
    #expect(script.machine.received(5 * mib, connection: 0) == (4 * mib, false))
    script.end(0, .stopped)
    #expect(script.machine.receivedBytes == 4 * mib)
    #expect(script.machine.retryCount == 0)
  }

  @Test("a body longer than its head said is cut")
  func overrun() {
    var script = MachineScript()
    script.accept(0, of: 1000)
    #expect(script.machine.received(1001, connection: 0) == (1000, false))
    script.end(0, .stopped)
    #expect(script.completions == 1)
  }

  @Test("an end that was stolen is not taken from the victim")
  func stolen() {
    var settings = TransferSettings()
    settings.connections = .fixed(2)
    settings.policy.firstRequest = 8 * mib
    var script = MachineScript(settings)
    script.accept(0, of: 9 * mib)
    script.advance()
    #expect(script.requests[1] == ByteRange(8 * mib, 9 * mib))
    _ = script.bytes(0, mib)
    script.serve(1, of: 9 * mib, advances: false)
    script.advance(1)
    #expect(script.requests[1] == ByteRange(5 * mib, 8 * mib))
    #expect(script.machine.received(4 * mib, connection: 0) == (4 * mib, false))
    script.end(0, .stopped)
    script.serveAll(of: 9 * mib)
    #expect(script.completions == 1)
    #expect(script.machine.receivedBytes == 9 * mib)
  }

  // MARK: Empty files

  @Test("an empty file by 416")
  func emptyByRange() {
    var script = MachineScript()
    #expect(script.head(0, response(416, [("Content-Range", "bytes */0")])) == .discard)
    script.end(0)
    #expect(script.completions == 1)
    #expect(script.machine.resource?.length == 0)
    #expect(script.machine.retryCount == 0)
  }

  @Test("an empty file by 200")
  func emptyWhole() {
    var script = MachineScript()
    #expect(script.head(0, response(200, [("Content-Length", "0")])) == .take(offset: 0))
    script.end(0)
    #expect(script.completions == 1)
    #expect(script.machine.resource?.length == 0)
  }

  @Test("an empty file whose error page never ends")
  func emptyAndStuck() {
    var script = MachineScript()
    _ = script.head(0, response(416, [("Content-Range", "bytes */0"), ("Content-Length", "9")]))
    script.run(40)
    #expect(script.completions == 1)
  }

  // MARK: Streams

  @Test("200 instead of 206 is taken as one stream")
  func whole() {
    var script = MachineScript()
    #expect(script.head(0, response(200, [("Content-Length", "\(50 * mib)"), tag])) == .take(offset: 0))
    script.advance(1)
    #expect(script.asked.count == 1)
    #expect(script.bytes(0, 50 * mib) == true)
    script.end(0)
    #expect(script.completions == 1)
    #expect(script.asked.count == 1)
    #expect(!script.machine.canResume(hasTrustedDigest: true))
  }

  @Test(
    "while a stream has brought nothing, an answer that says anything else begins everything anew",
    arguments: [[("ETag", "\"b\""), ("Content-Length", "1000")], [("ETag", "\"a\"")]])
  func otherFirstStream(fields: [(String, String)]) {
    var script = MachineScript()
    let first = response(200, [("ETag", "\"a\""), ("Content-Length", "1000")])
    _ = script.head(0, first)
    script.cut(0)
    script.run(10) { !$0.requests.isEmpty }
    var settled = fields
    if fields.count == 1 { settled.append(("Transfer-Encoding", "chunked")) }
    #expect(script.head(0, response(200, settled)) == .stop)
    script.end(0, .stopped)
    #expect(script.startOvers.count == 1 && script.failure == nil)
    // What comes next is learned from as if it were the first.
    #expect(script.head(0, response(200, settled)) == .take(offset: 0))
    #expect(script.machine.resource?.length == (fields.count == 1 ? nil : 1000))
  }

  @Test("the same answer again goes on where nothing came")
  func sameFirstStream() {
    var script = MachineScript()
    let first = response(200, [("ETag", "\"a\""), ("Content-Length", "1000")])
    _ = script.head(0, first)
    script.cut(0)
    script.run(10) { !$0.requests.isEmpty }
    #expect(script.head(0, first) == .take(offset: 0))
    #expect(script.startOvers.isEmpty)
  }

  @Test("a chunked stream ends by its last chunk")
  func chunked() {
    var script = MachineScript()
    _ = script.head(0, response(200, [("Transfer-Encoding", "chunked")]))
    #expect(script.bytes(0, 12345) == true)
    script.end(0)
    #expect(script.completions == 1)
    #expect(script.machine.receivedBytes == 12345)
    #expect(script.machine.resource?.length == nil)
  }

  @Test("a chunked stream that was stopped is not complete")
  func chunkedStopped() {
    var script = MachineScript()
    _ = script.head(0, response(200, [("Transfer-Encoding", "chunked")]))
    _ = script.bytes(0, 12345)
    script.end(0, .stopped)
    #expect(script.completions == 0)
    #expect(script.startOvers.count == 1)
  }

  @Test("a stream without an end of its own is not called complete")
  func unframed() {
    var script = MachineScript()
    #expect(script.head(0, response(200)) == .take(offset: 0))
    #expect(script.bytes(0, 77) == true)
    script.end(0)
    #expect(script.failure?.kind == .unframed)
    #expect(script.completions == 0)
  }

  @Test("where something is there already, a stream without an end is refused before its first byte")
  func unframedResume() {
    var script = MachineScript(resumed: resumed(20 * mib, present: [ByteRange(0, mib)]))
    #expect(script.head(0, response(200)) == .stop)
    script.end(0, .stopped)
    #expect(script.failure?.kind == .unframed)
  }

  @Test("over TLS the end of a connection is one")
  func unframedSecure() {
    var script = MachineScript()
    #expect(script.head(0, response(200), place: AnswerPlace(isSecure: true)) == .take(offset: 0))
    _ = script.bytes(0, 77)
    script.end(0)
    #expect(script.completions == 1)
  }

  @Test("a stream without an end of its own where somebody vouches for it")
  func unframedAccepted() {
    var settings = TransferSettings()
    settings.acceptsUnframed = true
    var script = MachineScript(settings)
    #expect(script.head(0, response(200)) == .take(offset: 0))
    _ = script.bytes(0, 77)
    script.end(0)
    #expect(script.completions == 1)
  }

  @Test("a stream that was cut starts over where no strong validator proves that it is the same file")
  func startsOver() {
    var script = MachineScript()
    let head = response(200, [("Content-Length", "1000")])
    _ = script.head(0, head)
    _ = script.bytes(0, 500)
    script.cut(0)
    #expect(script.startOvers.count == 1)
    #expect(script.requests.isEmpty, "the wait counts although everything begins anew")
    script.run(1) { !$0.requests.isEmpty }
    #expect(script.asked.count == 2)
    _ = script.head(0, head)
    #expect(script.bytes(0, 1000) == true)
    script.end(0)
    #expect(script.completions == 1)
  }

  @Test("a stream that never gets further is given up", arguments: [[], [tag]])
  func neverFurther(_ fields: [(String, String)]) {
    var script = MachineScript()
    var attempts = 0
    while script.failure == nil, attempts < 100 {
      attempts += 1
      _ = script.head(0, response(200, [("Content-Length", "1000")] + fields))
      _ = script.bytes(0, 500)
      script.cut(0)
      script.run(100) { !$0.requests.isEmpty || $0.failure != nil }
    }
    #expect(script.failure?.kind == .network)
    #expect(attempts == 6)
    #expect(script.startOvers.count == (fields.isEmpty ? 5 : 0))
  }

  @Test("a stream with a strong validator goes on without throwing anything away")
  func streamContinues() {
    var script = MachineScript()
    let head = response(200, [("Content-Length", "1000"), tag])
    _ = script.head(0, head)
    _ = script.bytes(0, 500)
    script.cut(0)
    script.run(1) { !$0.requests.isEmpty }
    #expect(script.startOvers.isEmpty)
    #expect(script.requests[0] == .some(nil))
    #expect(script.head(0, head) == .take(offset: 0))
    _ = script.bytes(0, 1000)
    script.end(0)
    #expect(script.completions == 1)
  }

  @Test("a stream does not go on with another file")
  func streamChanges() {
    var script = MachineScript()
    _ = script.head(0, response(200, [("Content-Length", "1000"), tag]))
    _ = script.bytes(0, 500)
    script.cut(0)
    script.run(1) { !$0.requests.isEmpty }
    let other = response(200, [("Content-Length", "1000"), ("ETag", "\"b\"")])
    for _ in 0..<4 {
      #expect(script.head(0, other) == .stop)
      script.end(0, .stopped)
    }
    #expect(script.startOvers.count == 1)
  }

  // MARK: Resumes

  private func resumed(
    _ length: Int, present: [ByteRange],
    change: @escaping @Sendable (Identity) -> ResourceChange? = { _ in nil }
  ) -> ResumedFile {
    ResumedFile(grid: ChunkGrid(length: length), present: ByteRangeSet(present), change: change)
  }

  @Test("a resumed file begins at its first gap, with one request")
  func firstGap() {
    let file = resumed(20 * mib, present: [ByteRange(0, 3 * mib), ByteRange(5 * mib, 10 * mib)])
    var script = MachineScript(resumed: file)
    #expect(script.asked == [ByteRange(3 * mib, 5 * mib)])
    #expect(script.machine.isResuming)
    script.serveAll(of: 20 * mib)
    #expect(script.completions == 1)
    #expect(script.machine.receivedBytes == 12 * mib)
  }

  @Test("a resumed file that is complete asks nothing")
  func completeAlready() {
    let script = MachineScript(resumed: resumed(3 * mib, present: [ByteRange(0, 3 * mib)]))
    #expect(script.completions == 1)
    #expect(script.asked.isEmpty)
  }

  @Test(
    "a resumed file that is another one now is begun anew once all agree, whatever the answer",
    arguments: [206, 200])
  func resumedChanged(_ status: Int) {
    let file = resumed(20 * mib, present: [ByteRange(0, mib)]) { _ in .etag(was: nil, is: "\"b\"") }
    var script = MachineScript(resumed: file)
    let head =
      status == 206
      ? part(ByteRange(mib, 5 * mib), of: 20 * mib)
      : response(200, [("Content-Length", "\(20 * mib)"), tag])
    #expect(script.head(0, head) == .stop)
    script.end(0, .stopped)
    for _ in 0..<3 {
      #expect(script.startOvers.isEmpty)
      #expect(script.sent[0]?.isFresh == true)
      script.refuse(0, status == 206 ? part(ByteRange(0, 1024), of: 20 * mib) : head)
    }
    #expect(script.startOvers.count == 1)
    #expect(script.machine.receivedBytes == 0)
    #expect(!script.machine.isResuming)
  }

  @Test("a resumed file that has become shorter, or empty", arguments: [0, 5])
  func resumedShrunk(_ length: Int) {
    var script = MachineScript(resumed: resumed(20 * mib, present: [ByteRange(mib, 2 * mib)]))
    for _ in 0..<4 { script.refuse(0, response(416, [("Content-Range", "bytes */\(length)")])) }
    #expect(script.startOvers.count == 1)
    #expect(script.completions == 0)
  }

  @Test("a resumed file whose server sends only wholes is one stream")
  func resumedWhole() {
    var script = MachineScript(resumed: resumed(2 * mib, present: [ByteRange(0, mib)]))
    #expect(script.head(0, response(200, [("Content-Length", "\(2 * mib)"), tag])) == .take(offset: 0))
    _ = script.bytes(0, 2 * mib)
    script.end(0)
    #expect(script.completions == 1)
  }

  @Test("a resumed file asks for its range twice before it asks for everything")
  func resumedBroken() {
    var script = MachineScript(resumed: resumed(2 * mib, present: [ByteRange(0, mib)]))
    script.refuse(0, response(416))
    script.run(5) { !$0.requests.isEmpty }
    #expect(script.requests[0] == ByteRange(mib, 2 * mib))
    script.refuse(0, response(416))
    script.run(5) { !$0.requests.isEmpty }
    #expect(script.requests[0] == .some(nil))
  }

  @Test("bytes that prove damaged are fetched again")
  func lost() {
    var script = MachineScript()
    script.serveAll(of: 20 * mib)
    #expect(script.completions == 1)
    script.machine.lost([ByteRange(2 * mib, 3 * mib), ByteRange(7 * mib, 8 * mib)], now: 1)
    #expect(!script.machine.isComplete)
    script.advance()
    #expect(Set(script.requests.values) == [ByteRange(2 * mib, 3 * mib), ByteRange(7 * mib, 8 * mib)])
    script.serveAll(of: 20 * mib)
    #expect(script.completions == 2)
    #expect(script.machine.receivedBytes == 22 * mib)
  }

  @Test("bytes that prove damaged before the completion was told hold it back")
  func lostInBetween() {
    var script = MachineScript()
    script.serve(0, of: 3 * mib, advances: false)
    #expect(script.machine.isComplete)
    script.machine.lost([ByteRange(0, mib)], now: 0)
    script.advance()
    #expect(script.completions == 0)
    #expect(script.requests[0] == ByteRange(0, mib))
    script.serveAll(of: 3 * mib)
    #expect(script.completions == 1)
  }

  @Test("a file that was complete, with damage, learns about its server first")
  func lostAfterResume() {
    var script = MachineScript(resumed: resumed(3 * mib, present: [ByteRange(0, 3 * mib)]))
    script.machine.lost([ByteRange(mib, 2 * mib)], now: 0)
    script.advance()
    #expect(script.asked == [ByteRange(mib, 2 * mib)])
    script.serveAll(of: 3 * mib)
    #expect(script.completions == 2)
    #expect(script.machine.receivedBytes == mib)
  }

  @Test("starting over forgets what was not told yet: an empty file must not pass for the complete one")
  func startingOverForgets() {
    var machine = TransferMachine(settings: TransferSettings())
    _ = machine.advance(now: 0)
    var head = ResponseHead(status: 206)
    head.headers.append(name: "Content-Range", value: "bytes 0-99/100")
    head.headers.append(name: "Content-Length", value: "100")
    #expect(machine.judge(head, connection: 0, now: 0, wallClock: 0) == .take(offset: 0))
    #expect(machine.received(100, connection: 0).wanted == 100)
    machine.ended(connection: 0, .finished, now: 0, dice: 0)
    #expect(machine.isComplete)
    machine.restarted(now: 0)
    #expect(machine.advance(now: 0) == [.request(connection: 0, PartRequest(range: ByteRange(0, 4 << 20)))])
  }
}
