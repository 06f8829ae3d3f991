// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Servers that send more than anybody needs: an early end, and memory that stays flat.
@Suite(.timeLimit(.minutes(10)))
struct BoundTests {
  private static let length = 3_000_000
  private let resource = OriginResource.reference(seed: 1, length: length)
  /// The most memory that the command may ever have had, in KiB.
  private static let mostMemory = 48 << 10

  private static func flood(_ first: String, _ line: String, count: Int) -> [UInt8] {
    var bytes = Array(first.utf8)
    for _ in 0..<count { bytes += Array(line.utf8) }
    return bytes + Array("\r\n".utf8)
  }

  /// Answers without an end, each with the exit code and a word of the message.
  private static let floods: [(String, [UInt8], Int32, String)] = [
    ("fields", flood("HTTP/1.1 200 OK\r\n", "X-Y: z\r\n", count: 101), 17, "100 fields"),
    ("many fields", flood("HTTP/1.1 200 OK\r\n", "X-Y: z\r\n", count: 500_000), 17, "100 fields"),
    (
      "long fields",
      flood("HTTP/1.1 200 OK\r\n", "X-Y: \(String(repeating: "z", count: 2000))\r\n", count: 40),
      17, "64 KiB"
    ),
    (
      "a Location of 17 KB",
      flood("HTTP/1.1 302 Found\r\n", "Location: /\(String(repeating: "z", count: 17_000))\r\n", count: 1),
      17, "16 KiB"
    ),
    (
      "a Location of 1 MB",
      flood("HTTP/1.1 302 Found\r\n", "Location: /\(String(repeating: "z", count: 1 << 20))\r\n", count: 1),
      17, "too long"
    ),
    ("a NUL", Array("HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 1\r\n\r\nx".utf8), 17, "/f"),
    (
      "interim answers", flood("", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", count: 100_000), 10,
      "/f"
    ),
    ("a status line without an end", [UInt8](repeating: UInt8(ascii: "H"), count: 4 << 20), 17, "/f"),
  ]

  /// Fetches /f, which fails, and then /held, where the process is looked at.
  private func peak(_ arena: Arena) throws -> (kibibytes: Int?, errors: String, code: Int32) {
    arena.origin.put(resource.gated(at: 1000), at: "/held")
    let process = try HaulProcess.start(
      [arena.origin.url("/f"), arena.origin.url("/held"), "-d", arena.folder.path, "--retries", "0"])
    #expect(arena.waitUntilHeld(1))
    let status = try? Files.text(of: "/proc/\(process.pid)/status")
    arena.origin.openGate("gate")
    let ended = process.wait()
    let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return (line?.split(separator: " ").dropLast().last.flatMap { Int($0) }, ended.errors, ended.code)
  }

  @Test("a head without measure ends the request at once, and costs no memory", arguments: floods)
  func heads(name: String, answer: [UInt8], code: Int32, says: String) throws {
    let arena = try Arena([
      "/f": .reference(seed: 1, length: 1, faults: [Fault.rawResponse(answer).on(.every)])
    ])
    let (kibibytes, errors, status) = try peak(arena)
    #expect(status == code && errors.contains(says), "\(status) \(errors.prefix(500))")
    #expect(errors.utf8.count < 2000)
    if let kibibytes { #expect(kibibytes < Self.mostMemory, "\(kibibytes) KiB") }
    #expect(arena.names == ["held"])
  }

  @Test("a body that never ends goes to the disk and not into memory")
  func endless() throws {
    var endless = OriginResource.reference(seed: 1, length: 1 << 40)
    endless.supportsRanges = false
    endless.framing = .chunked
    let arena = try Arena(["/f": endless])
    let process = try arena.start("/f", "--no-sync", "--no-digest")
    #expect(arena.origin.waitUntil(timeout: .seconds(60)) { $0.bodyBytesSent() > 150_000_000 })
    let status = try? Files.text(of: "/proc/\(process.pid)/status")
    process.signal(SIGINT)
    #expect(process.wait().end == .exit(130))
    let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    if let kibibytes = line?.split(separator: " ").dropLast().last.flatMap({ Int($0) }) {
      #expect(kibibytes < 80 << 10, "\(kibibytes) KiB")
    }
    #expect(!arena.names.contains("f"))
  }

  @Test("a body beyond its announced length is not taken", arguments: [true, false])
  func beyond(hasRanges: Bool) throws {
    var long = resource
    long.supportsRanges = hasRanges
    long.faults = [Fault.extraBytes(200 << 20).on(.every)]
    let arena = try Arena(["/f": long])
    let ended = try arena.run("/f", "-c", "1")
    #expect(ended.end == .exit(0), "\(ended.errors)")
    #expect(try arena.holds("f", ReferenceContent(seed: 1, length: Self.length)))
    #expect(
      arena.origin.journal().bodyBytesSent() < 100 << 20, "the connection was ended, not read to its end")
  }

  @Test("14: a length beyond the free space ends it before the second request, with both numbers")
  func noSpace() throws {
    let arena = try Arena(["/f": .reference(seed: 1, length: 1 << 52)])
    let ended = try arena.run("/f")
    #expect(ended.end == .exit(14) && ended.errors.contains("4.50 PB are needed, "), "\(ended.errors)")
    #expect(ended.errors.contains("B are free"))
    #expect(arena.origin.requests().count == 1 && arena.names.isEmpty)
  }

  @Test(
    "17: a length that no file can have ends it at the first answer, with both numbers",
    arguments: [true, false])
  func impossible(isPart: Bool) throws {
    let length = Int.max
    let head =
      isPart
      ? "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-9/\(length)\r\nContent-Length: 10\r\n\r\n"
      : "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n"
    let faults = [Fault.rawResponse(Array(head.utf8)).on(.every)]
    let arena = try Arena(["/f": .reference(seed: 1, length: 1, faults: faults)])
    let ended = try arena.run("/f")
    #expect(
      ended.end == .exit(17) && ended.errors.contains("a file of 9.22 EB, where 4.61 EB"), "\(ended.errors)")
    #expect(arena.origin.requests().count == 1 && arena.names.isEmpty)
  }

  @Test("a URL above 16 KiB is refused before anything is asked")
  func longURL() throws {
    let arena = try Arena()
    let ended = try arena.run("/" + String(repeating: "a", count: 17_000))
    #expect(ended.end == .exit(64) && ended.errors.contains("16 KiB"))
    #expect(ended.errors.utf8.count < 2000 && arena.origin.requests().isEmpty)
  }
}
