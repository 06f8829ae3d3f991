// SPDX-License-Identifier: Apache-2.0

import HaulCore
import Testing

private let mib = 1 << 20
private let length = 100 * mib

@Suite("TransferMachine: is another place the same source?")
struct TransferPlaceTests {
  private let old = AnswerPlace(source: "http://a/f", isRenewable: true)
  private let new = AnswerPlace(source: "http://b/f", isRenewable: true)
  private let chunks = [ByteRange(0, mib), ByteRange(3 * mib, 4 * mib)]

  /// A transfer over one connection that has 4 MiB, whose link has run out and was renewed. Its lease is
  /// answered from another place with the right validator.
  private func moved(_ tune: (inout TransferSettings) -> Void = { _ in }) -> MachineScript {
    var settings = TransferSettings()
    settings.connections = .fixed(1)
    tune(&settings)
    var script = MachineScript(settings)
    script.compared.ranges = chunks
    _ = script.head(0, part(ByteRange(0, 4 * mib), of: length), place: old)
    _ = script.bytes(0, 4 * mib)
    script.end(0)
    script.refuse(0, response(403), place: old)
    return script
  }

  /// Answers what connection 0 asks for, from `place`.
  private func answer(_ script: inout MachineScript, _ place: AnswerPlace) -> HeadDecision {
    guard case .some(.some(let range)) = script.requests[0] else { return .stop }
    return script.head(0, part(range, of: length), place: place)
  }

  private func serve(_ script: inout MachineScript, _ place: AnswerPlace) {
    guard case .some(.some(let range)) = script.requests[0] else { return }
    #expect(answer(&script, place) == .take(offset: range.lower))
    _ = script.bytes(0, range.count)
    script.end(0)
  }

  @Test("before a byte of it is taken, what is there is fetched from it and compared; then it goes on there")
  func equal() {
    var script = moved()
    #expect(script.sent[0]?.asksOriginal == true)
    #expect(answer(&script, new) == .stop)
    script.end(0, .stopped)
    for chunk in chunks {
      #expect(script.sent[0] == PartRequest(range: chunk, comparesPlace: true))
      serve(&script, new)
    }
    #expect(script.comparisons == 1 && script.machine.comparedBytes == 2 * mib)
    #expect(script.machine.receivedBytes == 4 * mib, "nothing of it counts as received")
    #expect(script.sent[0]?.asksOriginal == false && script.requests[0]??.lower == 4 * mib)
    for _ in 0..<3 { serve(&script, new) }
    #expect(script.comparisons == 1 && script.failure == nil, "once is enough")
  }

  @Test("a comparison that is cut goes on where it was")
  func cut() {
    var script = moved()
    _ = answer(&script, new)
    script.end(0, .stopped)
    _ = answer(&script, new)
    _ = script.bytes(0, 1000)
    script.cut(0)
    script.run(60) { $0.requests[0] != nil }
    #expect(script.sent[0] == PartRequest(range: ByteRange(1000, mib), comparesPlace: true))
    serve(&script, new)
    serve(&script, new)
    #expect(script.comparisons == 1 && script.failure == nil)
  }

  @Test("a place that does not answer when it is compared is left for the one that does")
  func deaf() {
    var script = moved()
    _ = answer(&script, new)
    script.end(0, .stopped)
    #expect(script.sent[0]?.comparesPlace == true)
    script.cut(0)
    script.run(60) { $0.requests[0] != nil }
    #expect(script.sent[0]?.comparesPlace == false && script.failure == nil)
  }

  @Test("a place with other bytes is never taken from; the next redirect may lead to a better one")
  func unequal() {
    var script = moved()
    script.compared.isEqual = false
    _ = answer(&script, new)
    script.end(0, .stopped)
    serve(&script, new)
    serve(&script, new)
    script.run(60) { $0.requests[0] != nil }
    #expect(script.sent[0]?.asksOriginal == true)
    // Not compared again.
    #expect(answer(&script, new) == .stop)
    script.end(0, .stopped)
    script.run(60) { $0.requests[0] != nil }
    serve(&script, old)
    #expect(script.comparisons == 1 && script.failure == nil && script.startOvers.isEmpty)
    #expect(script.machine.receivedBytes > 4 * mib)
  }

  @Test("where every redirect leads there, it is an error and nothing is thrown away")
  func always() {
    var script = moved()
    script.compared.isEqual = false
    for _ in 0..<50 where script.failure == nil {
      let decision = answer(&script, new)
      if decision != .stop { _ = script.bytes(0, 4 * mib) }
      script.end(0, .stopped)
      script.run(100) { $0.requests[0] != nil || $0.failure != nil }
    }
    #expect(script.failure?.kind == .elsewhere && script.startOvers.isEmpty)
    #expect(script.machine.receivedBytes == 4 * mib)
  }

  @Test("a place for each answer is an error in the end")
  func wandering() {
    var script = moved()
    for number in 0..<100 where script.failure == nil {
      _ = answer(&script, AnswerPlace(source: "http://\(number)/", isRenewable: true))
      script.end(0, .stopped)
      script.run(100) { $0.requests[0] != nil || $0.failure != nil }
    }
    #expect(script.failure?.kind == .elsewhere)
  }

  @Test("with nothing to compare by it begins anew, a few times, and not where nobody wants that")
  func nothingThere() {
    var script = moved()
    script.compared.ranges = []
    _ = answer(&script, new)
    script.end(0, .stopped)
    #expect(script.startOvers.count == 1 && script.failure == nil)
    #expect(script.requests[0]??.lower == 0)
    var kept = moved { $0.restartsOnChange = false }
    kept.compared.ranges = []
    _ = answer(&kept, new)
    kept.end(0, .stopped)
    #expect(kept.startOvers.isEmpty && kept.failure?.kind == .elsewhere)
  }

  @Test("a digest that will tell needs no comparison")
  func digest() {
    var script = moved { $0.hasTrustedDigest = true }
    serve(&script, new)
    #expect(script.comparisons == 0 && script.machine.receivedBytes > 4 * mib)
  }

  @Test("one stream of another place is not joined to what is there")
  func stream() {
    let whole = response(200, [("Content-Length", "\(length)"), ("ETag", "\"a\"")])
    var script = MachineScript()
    #expect(script.head(0, whole, place: old) == .take(offset: 0))
    _ = script.bytes(0, 50 * mib)
    script.cut(0)
    script.run(60) { $0.requests[0] != nil }
    #expect(script.head(0, whole, place: new) == .stop)
    script.end(0, .stopped)
    #expect(script.startOvers.count == 1)
    #expect(script.head(0, whole, place: new) == .take(offset: 0))
  }

  @Test("a new link that is turned away while others bring bytes costs no retry")
  func askerRefused() {
    var settings = TransferSettings()
    settings.connections = .fixed(2)
    settings.retry = RetryPolicy(limit: 0)
    var script = MachineScript(settings)
    script.accept(0, of: length)
    script.advance()
    script.refuse(1, part(ByteRange(4 * mib, 8 * mib), of: length, [("ETag", "\"b\"")]))
    for _ in 0..<4 {
      script.run(100) { $0.requests[1] != nil }
      #expect(script.sent[1]?.isFresh == true)
      script.refuse(1, response(429))
      _ = script.bytes(0, 1000)
    }
    #expect(script.failure == nil)
    _ = script.bytes(0, 4 * mib)
    script.end(0)
    script.run(100) { $0.requests[1] != nil }
    script.refuse(1, response(429))
    #expect(script.failure?.kind == .refused(status: 429), "with nobody else it is a failure")
  }
}
