// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

private let mib = 1 << 20
private let tag = ("ETag", "\"a\"")

@Suite("TransferMachine: what goes wrong")
struct TransferFailureTests {
  /// A transfer of 1000 MiB with `count` connections, of which the first `receiving` have their heads.
  private func running(_ count: Int, receiving: Int) -> MachineScript {
    var settings = TransferSettings()
    settings.connections = .fixed(count)
    var script = MachineScript(settings)
    script.accept(0, of: 1000 * mib)
    script.advance()
    for connection in 1..<max(1, receiving) { script.accept(connection, of: 1000 * mib) }
    return script
  }

  // MARK: Too many connections

  @Test(
    "extra connections that are refused are given up without counting against the file",
    arguments: [503, 429, 403])
  func extraRefused(_ status: Int) {
    var script = running(4, receiving: 1)
    for connection in 1...3 { script.refuse(connection, response(status)) }
    #expect(script.requests.keys.sorted() == [0])
    script.run(9) { $0.requests.count > 1 }
    #expect(script.requests.count == 1)
    #expect(script.failure == nil)
    // Later one more is tried.
    script.run(2) { $0.requests.count > 1 }
    #expect(script.requests.count == 2)
  }

  @Test("those that still wait for an answer are not given up with the one that was refused")
  func oneRefused() {
    var script = running(4, receiving: 1)
    script.refuse(3, response(503))
    #expect(script.requests.keys.sorted() == [0, 1, 2])
    for connection in 0...2 { script.serve(connection, of: 1000 * mib) }
    #expect(script.requests.count == 3)
  }

  @Test("a connection that was cut before its answer while others work is one too many")
  func extraCut() {
    var script = running(4, receiving: 2)
    script.cut(3)
    #expect(script.requests.count == 3)
    #expect(script.failure == nil)
  }

  @Test("403 in mid-file is believed only when every retry hears it")
  func forbidden() {
    var script = running(4, receiving: 1)
    script.serve(0, of: 1000 * mib)
    script.refuse(1, response(403))
    script.refuse(2, response(403))
    script.refuse(3, response(403))
    #expect(script.failure == nil)
    #expect(script.requests.count == 1)
    for _ in 0..<100 where script.failure == nil {
      guard let connection = script.requests.keys.first else { break }
      script.refuse(connection, response(403))
      script.run(100) { !$0.requests.isEmpty || $0.failure != nil }
    }
    #expect(script.failure?.kind == .refused(status: 403))
  }

  @Test("what an extra connection was told does not end a transfer whose others are done meanwhile")
  func forbiddenSlowly() {
    var script = running(2, receiving: 1)
    _ = script.head(1, response(403, [("Content-Length", "100")]))
    script.cut(0)
    script.end(1)
    #expect(script.failure == nil)
  }

  @Test("a server that serves one at a time still delivers")
  func oneAtATime() {
    var script = running(8, receiving: 1)
    for _ in 0..<10_000 {
      guard script.completions == 0, let lowest = script.requests.keys.min() else { break }
      for connection in script.requests.keys.sorted() where connection != lowest {
        script.refuse(connection, response(503))
      }
      script.serve(lowest, of: 1000 * mib)
      script.advance(0.1)
    }
    #expect(script.completions == 1)
    #expect(script.failure == nil)
    #expect(script.machine.receivedBytes == 1000 * mib)
  }

  // MARK: Runs of failures

  @Test("a first request that never works fails after the retries", arguments: [0, 1, 5])
  func neverWorks(_ retries: Int) {
    var settings = TransferSettings()
    settings.retry = RetryPolicy(limit: retries)
    var script = MachineScript(settings)
    for _ in 0..<100 where script.failure == nil {
      script.cut(0)
      script.run(100) { !$0.requests.isEmpty || $0.failure != nil }
    }
    #expect(script.asked.count == retries + 1)
    #expect(script.failure == TransferFailure(.network, "cut"))
    #expect(script.completions == 0)
  }

  @Test("sixteen connections cut at once are one failure, and come back after a wait")
  func together() {
    var settings = TransferSettings()
    settings.connections = .fixed(16)
    settings.retry = RetryPolicy(limit: 1)
    var script = MachineScript(settings)
    script.accept(0, of: 1000 * mib)
    script.advance()
    for connection in 0..<16 {
      script.accept(connection, of: 1000 * mib)
      _ = script.bytes(connection, 1000)
    }
    for connection in 0..<16 { script.cut(connection) }
    #expect(script.failure == nil)
    #expect(script.requests.isEmpty)
    script.run(1)
    #expect(script.requests.count == 16)
  }

  @Test("a dead server is asked by no more connections than are allowed")
  func noStorm() {
    var script = MachineScript()
    script.accept(0, of: 1000 * mib)
    script.advance()
    for connection in 0..<4 {
      script.accept(connection, of: 1000 * mib)
      _ = script.bytes(connection, 1000)
    }
    let before = script.asked.count
    for connection in 0..<4 { script.cut(connection) }
    while let connection = script.requests.keys.min() { script.cut(connection) }
    #expect(script.asked.count == before)
  }

  @Test("failures count only while nothing comes")
  func progress() {
    var script = running(1, receiving: 1)
    for _ in 0..<50 {
      _ = script.bytes(0, 1000)
      script.cut(0)
      script.run(2) { !$0.requests.isEmpty }
      script.accept(0, of: 1000 * mib)
    }
    #expect(script.failure == nil)
    #expect(script.machine.retryCount == 50)
  }

  @Test("only the missing part of a lease is asked for again")
  func rest() {
    var script = running(1, receiving: 1)
    _ = script.bytes(0, 1000)
    script.cut(0)
    script.run(2) { !$0.requests.isEmpty }
    #expect(script.requests[0]??.lower == 1000)
  }

  @Test("a failure that cannot pass ends everything at once")
  func notPassing() {
    var script = running(4, receiving: 4)
    script.end(2, .failed(TransferFailure(.untrusted, "x"), isPassing: false))
    #expect(script.failure?.kind == .untrusted)
  }

  @Test("a connection that breaks after the last byte changes nothing", arguments: [true, false])
  func cutAtTheEnd(_ isPassing: Bool) {
    var script = MachineScript()
    script.accept(0, of: 1000)
    _ = script.bytes(0, 1000)
    script.end(0, .failed(TransferFailure(.network, "reset"), isPassing: isPassing))
    #expect(script.completions == 1)
    #expect(script.failure == nil)
    #expect(script.machine.retryCount == 0)
  }

  // MARK: Waiting

  @Test(
    "Retry-After is honoured",
    arguments: [("20", 20), ("Thu, 01 Jan 1970 00:17:10 GMT", 30)] as [(String, Double)])
  func retryAfter(_ field: String, _ seconds: Double) {
    var script = MachineScript()
    script.refuse(0, response(503, [("Retry-After", field)]))
    script.run(seconds - 0.2)
    #expect(script.asked.count == 1)
    script.run(seconds * 0.2)
    #expect(script.asked.count == 2)
  }

  @Test("silence ends a request, and its rest is asked for again")
  func silence() {
    var script = running(1, receiving: 1)
    _ = script.bytes(0, 1000)
    script.run(29)
    #expect(script.cancels == 0)
    script.run(3)
    #expect(script.cancels == 1)
    #expect(script.requests[0]??.lower == 1000)
    #expect(script.failure == nil)
  }

  @Test("bytes now and then are no silence")
  func trickle() {
    var script = running(1, receiving: 1)
    for _ in 0..<5 {
      _ = script.bytes(0, 1)
      script.run(29)
    }
    #expect(script.cancels == 0)
  }

  @Test("a server that never answers is given up")
  func neverAnswers() {
    var script = MachineScript()
    script.run(600) { $0.failure != nil }
    #expect(script.failure?.kind == .network)
    #expect(script.cancels == 6)
  }

  @Test("an error page that never ends does not hold up its connection", arguments: [503, 429])
  func stuckErrorPage(_ status: Int) {
    var script = MachineScript()
    #expect(script.head(0, response(status, [("Content-Length", "100")])) == .discard)
    script.run(40) { $0.asked.count > 1 }
    #expect(script.cancels == 1)
    #expect(script.asked.count == 2)
  }

  @Test("a connection that nobody reads from is not silent")
  func held() {
    var script = running(1, receiving: 1)
    script.machine.hold(connection: 0, true, now: script.now)
    script.run(100)
    #expect(script.cancels == 0)
    script.machine.hold(connection: 0, false, now: script.now)
    script.run(29)
    #expect(script.cancels == 0)
    script.run(3)
    #expect(script.cancels == 1)
  }

  // MARK: Redirects

  @Test("a redirect repeats the request, first or later")
  func redirect() {
    var script = MachineScript()
    let there = response(302, [("Location", "/there")])
    #expect(script.head(0, there) == .redirect(location: "/there"))
    script.follow(0)
    script.accept(0, of: 1000 * mib)
    script.advance()
    #expect(script.head(1, there) == .redirect(location: "/there"))
    script.follow(1)
    script.serveAll(of: 1000 * mib)
    #expect(script.completions == 1)
    #expect(script.machine.receivedBytes == 1000 * mib)
  }

  @Test("a redirect in front of a stream")
  func redirectedStream() {
    var script = MachineScript()
    _ = script.head(0, response(307, [("Location", "/there")]))
    script.follow(0)
    #expect(script.head(0, response(200, [("Content-Length", "5")])) == .take(offset: 0))
    _ = script.bytes(0, 5)
    script.end(0)
    #expect(script.completions == 1)
  }

  @Test("a redirect that cannot be followed ends everything, but not where others bring bytes")
  func badRedirect() {
    func redirect(_ script: inout MachineScript, _ connection: Int) {
      _ = script.head(connection, response(302, [("Location", "ftp://x/")]))
      script.end(connection, .failed(TransferFailure(.brokenProtocol, "ftp"), isPassing: false))
    }
    var script = running(2, receiving: 1)
    redirect(&script, 1)
    #expect(script.failure == nil)
    var alone = MachineScript()
    redirect(&alone, 0)
    #expect(alone.failure?.kind == .brokenProtocol)
  }

  // MARK: Nonsense

  private static let nonsense: [ResponseHead] = [
    response(206), response(204), response(304), response(416), response(302),
    response(206, [("Content-Range", "bytes 5-9/10"), ("Content-Length", "5")]),
    response(206, [("Content-Type", "multipart/byteranges; boundary=x")]),
  ]

  @Test("a first answer without sense, twice, is asked again without a range", arguments: nonsense)
  func avoidsRanges(_ head: ResponseHead) {
    var script = MachineScript()
    script.refuse(0, head)
    script.run(1) { !$0.requests.isEmpty }
    #expect(script.requests[0] == ByteRange(0, 4 * mib))
    script.refuse(0, head)
    #expect(script.requests[0] == .some(nil))
    #expect(script.head(0, response(200, [("Content-Length", "10")])) == .take(offset: 0))
    _ = script.bytes(0, 10)
    script.end(0)
    #expect(script.completions == 1)
  }

  @Test("nothing but nonsense is given up", arguments: nonsense)
  func onlyNonsense(_ head: ResponseHead) {
    var script = MachineScript()
    for _ in 0..<100 where script.failure == nil {
      script.refuse(0, head)
      script.run(100) { !$0.requests.isEmpty || $0.failure != nil }
    }
    #expect(script.failure?.kind == .brokenProtocol)
    #expect(script.asked.count == 7)
  }

  @Test(
    "a request that ends without an answer is a failure, not a reason to ask at once",
    arguments: [RequestEnding.finished, .stopped])
  func noAnswer(_ ending: RequestEnding) {
    var script = MachineScript()
    for _ in 0..<100 where script.failure == nil {
      script.end(0, ending)
      if script.failure == nil { #expect(script.requests.isEmpty) }
      script.run(100) { !$0.requests.isEmpty || $0.failure != nil }
    }
    #expect(script.failure?.kind == .brokenProtocol)
    #expect(script.asked.count == 6)
  }

  @Test("parts that bring no byte are given up")
  func emptyBodies() {
    var script = MachineScript()
    for _ in 0..<100 where script.failure == nil {
      while let connection = script.requests.keys.min() {
        script.accept(connection, of: 1000)
        script.end(connection)
      }
      script.run(100) { !$0.requests.isEmpty || $0.failure != nil }
    }
    #expect(script.failure?.kind == .brokenProtocol)
    #expect(script.asked.count == 6)
  }

  @Test("a server that asks for time gets it from every connection")
  func retryAfterForAll() {
    var script = running(4, receiving: 1)
    script.serve(0, of: 1000 * mib)
    let asked = script.asked.count
    for connection in 0..<4 { script.refuse(connection, response(503, [("Retry-After", "60")])) }
    script.run(59)
    #expect(script.asked.count == asked)
    #expect(script.failure == nil)
    script.run(8)
    #expect(script.requests.count == 4)
  }

  @Test("the whole file where a part was asked for is not taken as one")
  func lateWhole() {
    var script = running(2, receiving: 1)
    #expect(script.head(1, response(200, [("Content-Length", "\(1000 * mib)"), tag])) == .stop)
    script.end(1, .stopped)
    #expect(script.failure == nil)
    #expect(script.machine.receivedBytes == 0)
  }

  @Test("a connection that always breaks is asked less and less while the other one brings the file")
  func brokenSibling() {
    var script = running(2, receiving: 1)
    var broken = 0
    for _ in 0..<600 {
      _ = script.bytes(0, 1000)
      if script.requests[1] != nil {
        broken += 1
        script.refuse(1, response(206), advances: false)
      }
      script.advance(0.1)
    }
    #expect(script.failure == nil)
    #expect(broken < 12, "60 s")
  }

  @Test("no means no", arguments: [401, 404, 407, 410, 451])
  func refused(_ status: Int) {
    var script = running(4, receiving: 3)
    script.refuse(3, response(status))
    #expect(script.failure?.kind == .refused(status: status))
  }

  @Test("after a failure nothing more is asked")
  func silentAfterFailure() {
    var script = running(4, receiving: 3)
    script.refuse(3, response(404))
    let asked = script.asked.count
    script.end(0)
    script.run(100)
    #expect(script.asked.count == asked)
  }
}
