// SPDX-License-Identifier: Apache-2.0

import HaulCore
import TestSupport
import Testing

private let MiB = 1 << 20

/// Connections that are far behind the others.
@Suite struct TransferPaceTests {
  private let total = 400 * MiB

  /// Four connections with their first leases under way.
  private func four() -> MachineScript {
    var settings = TransferSettings()
    settings.connections = .fixed(4)
    var script = MachineScript(settings)
    script.accept(0, of: total)
    script.advance()
    for connection in 1...3 { script.accept(connection, of: total) }
    return script
  }

  /// Lets ten seconds pass in which each connection gets its bytes a tenth of a second, as long as it is asked.
  private func flow(_ script: inout MachineScript, _ rates: [Int: Int], seconds: Double = 10) {
    for _ in 0..<Int(seconds * 10) {
      for (connection, count) in rates.sorted(by: { $0.key < $1.key })
      where script.requests[connection] != nil {
        if !script.bytes(connection, count) { script.end(connection, .stopped, advances: false) }
        if script.requests[connection] == nil { continue }
      }
      script.advance(0.1)
      for connection in script.requests.keys.sorted() where !script.machine.isReceiving(connection) {
        script.accept(connection, of: total)
      }
    }
  }

  @Test("one that trickles is replaced, and what it did not bring is asked for again")
  func trickle() {
    var script = four()
    flow(&script, [0: 300_000, 1: 40, 2: 300_000, 3: 300_000], seconds: 6)
    #expect(script.cancels == 1)
    #expect(script.asked.count > 4)
  }

  @Test("where all are slow nobody is replaced")
  func allSlow() {
    var script = four()
    flow(&script, [0: 40, 1: 40, 2: 50, 3: 30], seconds: 20)
    #expect(script.cancels == 0)
  }

  @Test("where nothing comes any more nobody is replaced before the silence is over")
  func allStopped() {
    var script = four()
    flow(&script, [0: 300_000, 1: 300_000, 2: 300_000, 3: 300_000], seconds: 2)
    flow(&script, [0: 300_000, 1: 300_000], seconds: 1)
    flow(&script, [:], seconds: 20)
    #expect(script.cancels == 0)
  }

  @Test("one that is slower, but not far behind, is left alone")
  func slower() {
    var script = four()
    flow(&script, [0: 300_000, 1: 60_000, 2: 300_000, 3: 300_000], seconds: 20)
    #expect(script.cancels == 0)
  }

  @Test("each replacement is given twice as long")
  func patience() {
    var script = four()
    flow(&script, [0: 100_000, 1: 40, 2: 100_000, 3: 100_000], seconds: 30)
    #expect((2...3).contains(script.cancels))
  }

  @Test("a whole that is just as long as the part asked for is asked for again, without a range")
  func wholeLikePart() {
    var script = MachineScript()
    guard case .some(.some(let range)) = script.requests[0] else { return }
    let whole = response(200, [("Content-Length", "\(range.upper)"), ("ETag", "\"a\"")])
    script.refuse(0, whole)
    #expect(script.requests[0] == .some(nil))
    #expect(script.head(0, whole) == .take(offset: 0, skip: 0))
    _ = script.bytes(0, range.upper)
    script.end(0)
    #expect(script.completions == 1 && script.machine.retryCount == 0)
  }
}
