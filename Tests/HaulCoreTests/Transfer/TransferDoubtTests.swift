// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

private let mib = 1 << 20
private let length = 100 * mib
private let monday = ("Last-Modified", "Mon, 07 Nov 1994 08:49:37 GMT")
private let tuesday = ("Last-Modified", "Tue, 08 Nov 1994 08:49:37 GMT")
private let later = ("Date", "Wed, 09 Nov 1994 08:49:37 GMT")

private func tag(_ text: String) -> (String, String) { ("ETag", "\"\(text)\"") }

@Suite("TransferMachine: is it still the same file?")
struct TransferDoubtTests {
  private let old = [tag("old"), monday, later]
  private let new = [tag("new"), tuesday, later]

  /// A transfer with two connections: the first one receives, the second one waits for its answer.
  private func running(
    _ fields: [(String, String)], _ tune: (inout TransferSettings) -> Void = { _ in }
  ) -> MachineScript {
    var settings = TransferSettings()
    settings.connections = .fixed(2)
    tune(&settings)
    var script = MachineScript(settings)
    script.accept(0, of: length, fields)
    script.advance()
    return script
  }

  private func answer(_ script: inout MachineScript, _ connection: Int, _ fields: [(String, String)]) {
    guard case .some(.some(let range)) = script.requests[connection] else { return }
    script.refuse(connection, part(range, of: length, fields))
  }

  // MARK: Changes

  @Test("one odd answer throws nothing away; three fresh connections that agree do, without a condition")
  func confirmed() {
    var script = running(old)
    answer(&script, 1, new)
    for _ in 0..<3 {
      #expect(script.startOvers.isEmpty && script.failure == nil)
      #expect(script.sent[1] == PartRequest(range: ByteRange(0, 1024), isFresh: true))
      answer(&script, 1, new)
    }
    #expect(script.startOvers.count == 1)
    #expect(script.startOvers[0].contains("changed"))
    #expect(script.asked.last == ByteRange(0, 4 * mib), "from the first byte")
    script.accept(0, of: length, new)
    #expect(script.machine.resource?.identity.etag?.opaque == "new")
  }

  @Test("nobody is given bytes while the question is open")
  func waits() {
    var script = running(old)
    answer(&script, 1, new)
    _ = script.bytes(0, 4 * mib)
    script.end(0)
    #expect(script.requests.keys.sorted() == [1])
  }

  @Test("the second change is an error")
  func twice() {
    var script = running(old)
    for _ in 0..<4 { answer(&script, 1, new) }
    script.accept(0, of: length, new)
    script.advance()
    for _ in 0..<4 { answer(&script, 1, [tag("newer"), tuesday]) }
    #expect(script.startOvers.count == 1)
    #expect(script.failure?.kind == .changed)
    #expect(script.failure?.message.contains("being modified") == true)
  }

  @Test("a change is an error at once where nobody wants a restart")
  func noRestart() {
    var script = running(old) { $0.restartsOnChange = false }
    for _ in 0..<4 { answer(&script, 1, new) }
    #expect(script.startOvers.isEmpty)
    #expect(script.failure?.kind == .changed)
  }

  @Test("another length is a change as well, told by a 416", arguments: [0, 7])
  func shorter(_ now: Int) {
    var script = running(old)
    for _ in 0..<4 { script.refuse(1, response(416, [("Content-Range", "bytes */\(now)")])) }
    #expect(script.startOvers.count == 1)
  }

  @Test("what another source has is no reason to throw bytes away")
  func otherSource() {
    let file = ResumedFile(
      grid: ChunkGrid(length: length), present: ByteRangeSet(ByteRange(0, mib)), isSameSource: false
    ) { _ in .etag(was: nil, is: "\"b\"") }
    var script = MachineScript(resumed: file)
    for _ in 0..<4 { answer(&script, 0, new) }
    #expect(script.startOvers.isEmpty)
    #expect(script.failure?.kind == .otherFile)
  }

  // MARK: Backends

  @Test("another backend's tag over the same length and date says nothing: down a tier, and on")
  func perBackend() {
    var script = running(old)
    answer(&script, 1, [tag("other"), monday])
    answer(&script, 1, old)
    #expect(script.startOvers.isEmpty && script.failure == nil)
    #expect(script.sent[1]?.isFresh == false)
    #expect(script.sent[1]?.range != ByteRange(0, 1024))
    for name in ["c", "d", "e"] {
      guard let connection = script.requests.keys.max() else { break }
      script.accept(connection, of: length, [tag(name), monday])
      _ = script.bytes(connection, 4 * mib)
      script.end(connection)
    }
    #expect(script.machine.receivedBytes == 12 * mib)
    #expect(!script.machine.canResume(hasTrustedDigest: false), "the stored tag will not come back")
    // The date still tells a change.
    for _ in 0..<4 {
      if let connection = script.requests.keys.max() { answer(&script, connection, [tag("f"), tuesday]) }
    }
    #expect(script.startOvers.count == 1)
  }

  @Test("tags that differ in every answer say nothing")
  func random() {
    var script = running(old)
    for name in ["1", "2", "3", "4"] { answer(&script, 1, [tag(name), monday]) }
    #expect(script.startOvers.isEmpty && script.failure == nil)
    script.accept(1, of: length, [tag("5"), monday])
    #expect(script.bytes(1, 1000) == true)
  }

  @Test("tags that differ in every answer, and no date: one answer has to bring it all")
  func randomWithoutDate() {
    var script = running([tag("0")])
    for name in ["1", "2", "3", "4"] { answer(&script, 1, [tag(name)]) }
    #expect(script.startOvers.count == 1 && script.failure == nil)
    #expect(script.requests[0] == .some(nil))
  }

  @Test("two backends without ranges and dates: what one of them brought is never continued by the other")
  func streamOfTwo() {
    var script = MachineScript()
    func whole(_ name: String) -> ResponseHead {
      response(200, [("Content-Length", "\(length)"), tag(name)])
    }
    _ = script.head(0, whole("a"))
    _ = script.bytes(0, 50 * mib)
    script.cut(0)
    script.run(60) { $0.requests[0] != nil }
    script.refuse(0, whole("b"))
    for _ in 0..<4 where script.startOvers.isEmpty {
      script.run(60) { !$0.requests.isEmpty }
      script.refuse(0, whole("a"))
    }
    #expect(script.startOvers.count == 1, "half of the file is of the first one")
  }

  @Test("tags that differ in every answer, and no date, but a digest that will tell")
  func randomWithDigest() {
    var script = running([tag("0")]) { $0.hasTrustedDigest = true }
    for name in ["1", "2", "3", "4"] { answer(&script, 1, [tag(name)]) }
    #expect(script.startOvers.isEmpty && script.failure == nil)
    script.accept(1, of: length, [tag("5")])
    #expect(script.bytes(1, 1000) == true)
  }

  @Test("a stale mirror's answers are never taken, and the file is finished by the others")
  func staleMirror() {
    var script = running(old)
    let stale = [tag("stale"), ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")]
    answer(&script, 1, stale)
    answer(&script, 1, old)
    var served = 0
    let isStale = [true, true, false, true, false, false, true]
    var answers = 0
    for _ in 0..<500 where script.completions == 0 {
      guard let connection = script.requests.keys.min() else {
        script.advance(1)
        continue
      }
      guard case .some(.some(let range)) = script.requests[connection] else { break }
      answers += 1
      if isStale[answers % isStale.count] {
        #expect(script.head(connection, part(range, of: length, stale)) == .stop)
        script.end(connection, .stopped)
      } else if script.sent[connection]?.isFresh == true {
        answer(&script, connection, old)
      } else {
        script.accept(connection, of: length, old)
        _ = script.bytes(connection, range.count)
        script.end(connection)
        served += 1
      }
    }
    #expect(script.failure == nil)
    #expect(script.completions == 1 && script.startOvers.isEmpty && served > 1)
  }

  @Test("mirrors that never agree are an error, not a mix")
  func disagreement() {
    var script = running(old)
    for round in 0..<400 where script.failure == nil {
      guard let connection = script.requests.keys.max() else {
        script.advance(10)
        continue
      }
      answer(&script, connection, [tag("\(round)"), ("Last-Modified", "\(round)")])
    }
    #expect(script.failure?.kind == .changed)
    #expect(script.startOvers.isEmpty)
  }

  @Test("the old generation back after a restart, but for its tag, was no change at all")
  func formerIsBack() {
    let other = [tag("other"), monday, later]
    var script = running(old)
    for _ in 0..<4 { answer(&script, 1, other) }
    #expect(script.startOvers.count == 1)
    script.accept(0, of: length, other)
    script.advance()
    answer(&script, 1, old)
    #expect(script.failure == nil)
    script.accept(1, of: length, old)
    #expect(script.bytes(1, 1000) == true)
  }

  @Test("three unanimous versions that differ in their tags alone are fetched as one answer")
  func threeTags() {
    var script = running(old)
    for _ in 0..<4 { answer(&script, 1, [tag("b"), monday, later]) }
    script.accept(0, of: length, [tag("b"), monday, later])
    script.advance()
    for _ in 0..<4 { answer(&script, 1, [tag("c"), monday, later]) }
    #expect(script.startOvers.count == 2 && script.failure == nil)
    #expect(script.requests[0] == .some(nil))
  }

  @Test("a resume through per-backend tags goes on once one backend has the stored one")
  func resumedPerBackend() {
    let file = ResumedFile(grid: ChunkGrid(length: length), present: ByteRangeSet(ByteRange(0, mib))) {
      $0.etag?.opaque == "old" ? nil : .etag(was: "another", is: "x")
    }
    var script = MachineScript(resumed: file)
    answer(&script, 0, [tag("other"), monday, later])
    answer(&script, 0, old)
    script.accept(0, of: length, [tag("third"), monday, later])
    #expect(script.bytes(0, 1000) == true)
    #expect(script.startOvers.isEmpty && script.machine.isResuming)
  }

  @Test("a login page is no new version, at a resume or later")
  func loginPage() {
    let page = response(200, [("Content-Type", "text/html"), ("Content-Length", "500")])
    let file = ResumedFile(grid: ChunkGrid(length: length), present: ByteRangeSet(ByteRange(0, mib))) {
      _ in .etagVanished(was: "\"old\"")
    }
    for var script in [MachineScript(resumed: file), running(old)] {
      for _ in 0..<100 where script.failure == nil {
        if let connection = script.requests.keys.max() { script.refuse(connection, page) }
        script.run(100) { !$0.requests.isEmpty || $0.failure != nil }
      }
      #expect(script.failure?.kind == .brokenProtocol)
      #expect(script.startOvers.isEmpty)
    }
  }

  // MARK: Conditions

  @Test("leases after the first answer are bound to the strongest validator")
  func conditions() {
    #expect(running(old).sent[0]?.condition == nil)
    #expect(running(old).sent[1]?.condition == .strongETag("\"old\""))
    #expect(
      running([("ETag", "W/\"x\""), monday, later]).sent[1]?.condition
        == .lastModified(monday.1, seconds: 784_198_177))
    #expect(running([("ETag", "W/\"x\"")]).sent[1]?.condition == nil)
    #expect(running([("ETag", "\"\u{e9}\"")]).sent[1]?.condition == nil, "it could not be sent as it came")
    #expect(running([monday]).sent[1]?.condition == nil)
  }

  @Test("the first request of a resume carries no condition")
  func firstOfResume() {
    let file = ResumedFile(grid: ChunkGrid(length: length), present: ByteRangeSet(ByteRange(0, mib))) { _ in
      nil
    }
    #expect(MachineScript(resumed: file).sent[0] == PartRequest(range: ByteRange(mib, 5 * mib)))
  }

  @Test("a server that mishandles conditions is asked without, at once and for good", arguments: [412, 200])
  func mishandled(_ status: Int) {
    var script = running(old)
    let range = script.requests[1]
    let odd = status == 412 ? response(412) : response(200, [("Content-Length", "\(length)")] + old)
    script.refuse(1, odd)
    #expect(script.requests[1] == range)
    #expect(script.sent[1]?.condition == nil)
    script.accept(1, of: length, old)
    _ = script.bytes(1, 4 * mib)
    script.end(1)
    #expect(script.sent[1]?.condition == nil)
    #expect(script.failure == nil && script.machine.receivedBytes == 4 * mib)
  }

  @Test("a 412 that is true leads to the question, and from there to a restart")
  func trueCondition() {
    var script = running(old)
    script.refuse(1, response(412))
    #expect(script.startOvers.isEmpty)
    for _ in 0..<4 { answer(&script, 1, new) }
    #expect(script.startOvers.count == 1)
    script.accept(0, of: length, new)
    script.advance()
    #expect(script.sent[1]?.condition == .strongETag("\"new\""))
  }

  // MARK: No validator

  @Test("without a validator an answer from another place is not combined with what is there")
  func otherPlace() {
    var script = running([])
    guard case .some(.some(let range)) = script.requests[1] else { return }
    let head = part(range, of: length, [])
    #expect(script.head(1, head, place: AnswerPlace(source: "http://b/")) == .stop)
    // With one some chunks are compared (TransferPlaceTests); a digest will tell without that.
    var tagged = running(old) { $0.hasTrustedDigest = true }
    #expect(tagged.head(1, part(range, of: length, old), place: AnswerPlace(source: "http://b/")) != .stop)
  }
}
