// SPDX-License-Identifier: Apache-2.0

import Haul

/// What the command says about a download beside its live line. Pure: values in, lines out.
enum Report {
  static func summary(_ result: DownloadResult) -> [String] {
    let path = TerminalSafe.escaped(result.path)
    if result.wasComplete {
      return ["\(path): already complete, \(worth(result.digestStatus)) (\(Quantities.bytes(result.length)))"]
    }
    var line = "\(path): \(Quantities.bytes(result.length)) in \(Quantities.elapsed(result.seconds))"
    if result.seconds > 0, result.receivedBytes > 0 {
      line += ", \(Quantities.rate(Double(result.receivedBytes) / result.seconds))"
    }
    if result.resumedBytes > 0 { line += ", \(Quantities.bytes(result.resumedBytes)) of it from before" }
    if result.adoptedChunks > 0 {
      line += " (\(result.comparedChunks) of \(chunks(result.adoptedChunks)) taken over were compared)"
    } else if result.comparedChunks > 0 {
      line += " by another URL (\(chunks(result.comparedChunks)) compared)"
    }
    if result.retries > 0 { line += ", \(result.retries) \(result.retries == 1 ? "retry" : "retries")" }
    return [line] + digests(result)
  }

  /// A line for the SHA-256, and one for what was compared, where that is another digest.
  private static func digests(_ result: DownloadResult) -> [String] {
    var lines: [String] = []
    let compared = result.checksum
    if let sha256 = result.sha256, compared?.algorithm != .sha256 {
      lines.append("sha256 \(sha256) computed")
    }
    if let compared { lines.append("\(compared.algorithm) \(compared.hex) \(worth(result.digestStatus))") }
    return lines
  }

  private static func worth(_ status: DownloadResult.DigestStatus) -> String {
    switch status {
    case .verified: "verified"
    case .matchesServer(let field): "matches the server's digest (\(field))"
    case .matchesWeak(let field): "matches (weak" + (field.map { ", the server's \($0))" } ?? ")")
    case .computed: "computed"
    case .none: "not computed"
    }
  }

  static func error(_ error: DownloadError) -> [String] {
    var lines = ["haul: \(TerminalSafe.escaped(error.message))"]
    if let kept = error.kept { lines.append("haul: " + keptLine(kept)) }
    if let advice = error.advice {
      lines.append("haul: \(TerminalSafe.escaped(advice))")
    } else if error.code == .interrupted {
      if error.kept?.canResume == true {
        lines.append("haul: run the same command again to go on from there")
      } else if error.kept == nil {
        lines.append("haul: nothing was kept; the same command starts over")
      }
    }
    return lines
  }

  private static func keptLine(_ kept: DownloadError.Kept) -> String {
    let total = kept.total.map { " of \(Quantities.bytes($0))" } ?? ""
    let written = "\(Quantities.bytes(kept.written))\(total) in \(TerminalSafe.escaped(kept.path))"
    // Bytes that nothing can go on from are not what "kept" promises.
    guard kept.canResume else { return "left \(written); the same command starts over" }
    let durable =
      kept.durable >= kept.written
      ? "all of it safe on the disk"
      : "\(Quantities.bytes(kept.durable)) of it safe on the disk; a power loss would take the rest"
    return "kept \(written), \(durable)"
  }

  static func notice(_ notice: DownloadNotice) -> String {
    let text =
      switch notice {
      case .cannotResume(let why): "an interruption will start over: \(why)"
      case .doubtfulDisk(let why): "a power loss may take what is fetched: \(why)"
      case .streaming(let to): "writing to \(to) in order, over one connection; an interruption starts over"
      case .waitingForReader(let path): "waiting until somebody reads from \(path)"
      case .waitingForRoom(let why):
        "\(why); everything that came is kept, waiting for room: make some, or stop here with Ctrl-C"
      case .foundRoom: "there is room again, going on"
      case .resuming(let bytes): "going on: \(Quantities.bytes(bytes)) are there already"
      case .continuingFromOtherSource(let source, let count):
        "what is there came from \(source); \(chunks(count)) of it \(count == 1 ? "is" : "are") the same here"
      case .reading(let path): "reading \(path)"
      case .adopting(let count, let compared):
        "\(chunks(count)) taken over: \(compared) of them were compared with the server and are equal"
      case .discarding(let bytes, let why):
        "starting over, \(Quantities.bytes(bytes)) of before are not used: \(why)"
      case .startingOver(let why): "fetching everything again: \(why)"
      case .wrongAnswer(let bytes):
        "an answer of \(Quantities.bytes(bytes)) did not have its own Content-Digest, fetched again"
      case .weakChecksum(let algorithm):
        "weak: files with one \(algorithm == .md5 ? "MD5" : "SHA-1") can be forged; a match rules out accidents only"
      case .keepingDigest(let digest):
        "the \(digest.algorithm) that an earlier run was given still has to match: \(digest.hex)"
      case .replacingDigest(let digest):
        "begun for the \(digest.algorithm) \(digest.hex); from here on only the digest that is given now counts"
      case .droppingDigest(let digest):
        "not compared with the \(digest.algorithm) that an earlier run had: \(digest.hex)"
      case .renamed(let from, let to): "named \(to) here: \(quoted(from)) is too long or not safe as a name"
      case .oddForm(let field, let value):
        "warning: the server sends a \(field) that HTTP does not allow (\(quoted(value))); read as it is meant"
      case .damagedChunks(let count):
        "\(count) damaged \(count == 1 ? "chunk" : "chunks") on the disk, fetched again"
      }
    return "haul: " + TerminalSafe.escaped(text)
  }

  /// A stranger's text, not longer than it takes to recognise it.
  private static func quoted(_ text: String) -> String {
    text.count > 100 ? "'\(text.prefix(100))…'" : "'\(text)'"
  }

  private static func chunks(_ count: Int) -> String { "\(count) \(count == 1 ? "chunk" : "chunks")" }

  /// A line for logs, every few seconds.
  static func plain(_ progress: DownloadProgress, rate: Double?) -> String {
    var line = "haul: \(TerminalSafe.escaped(progress.name ?? "…")): \(Quantities.bytes(progress.received))"
    if let total = progress.total {
      let percent = total == 0 ? 100 : Int(Double(progress.received) / Double(total) * 100)
      line += " of \(Quantities.bytes(total)) (\(percent)%)"
    }
    if let trouble = progress.trouble { return line + ", waiting: \(TerminalSafe.escaped(trouble))" }
    if let rate { line += ", \(Quantities.rate(rate))" }
    return line + ", \(progress.connections) \(progress.connections == 1 ? "connection" : "connections")"
  }
}
