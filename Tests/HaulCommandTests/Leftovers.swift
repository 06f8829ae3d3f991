// SPDX-License-Identifier: Apache-2.0

import Foundation
import HaulOrigin
import TestSupport
import Testing

/// What interrupted downloads leave, for the commands that look at it.
struct Leftovers {
  static let length = 40_000_000
  let content = ReferenceContent(seed: 11, length: length)
  let arena: Arena

  init(_ more: [String: OriginResource] = [:]) throws {
    var resource = OriginResource.reference(seed: 11, length: Self.length).gated(at: 3_000_000)
    resource.etag = "\"one\""
    arena = try Arena(more.merging(["/f": resource]) { given, _ in given })
  }

  /// A download that was stopped in order, with some whole chunks and some beginnings of others.
  func stopped(_ name: String = "f") throws {
    let process = try HaulProcess.start([
      arena.origin.url("/f"), "-o", arena.folder.path(of: name), "-c", "2",
    ])
    let before = arena.origin.requests().count
    #expect(arena.origin.waitUntil(timeout: .seconds(30)) { $0.requests.count { $0.heldAt != nil } >= 2 })
    #expect(arena.origin.requests().count >= before)
    process.signal(2)
    #expect(process.wait().end == .exit(130))
    #expect(Files.exists(arena.folder.path(of: name + ".haul")))
  }

  func path(_ name: String) -> String { arena.folder.path(of: name) }

  /// Changes the byte at each of `offsets`.
  func damage(_ name: String, at offsets: [Int]) throws {
    var bytes = try Files.bytes(of: path(name))
    for offset in offsets { bytes[offset] ^= 0x55 }
    try Files.write(path(name), length: bytes.count) { $0.copyBytes(from: bytes[$1..<$1 + $0.count]) }
    chmod(path(name), 0o600)
  }

  func copy(_ name: String, to other: String) throws {
    let bytes = try Files.bytes(of: path(name))
    try Files.write(path(other), length: bytes.count) { $0.copyBytes(from: bytes[$1..<$1 + $0.count]) }
    chmod(path(other), 0o600)
  }

  /// Everything in the folder.
  func picture() throws -> [String] { arena.names.map { "\($0) \(Picture(path($0)))" } }

  /// All of one file that somebody could have changed.
  struct Picture: Equatable, CustomStringConvertible {
    let description: String

    init(_ path: String) {
      var status = stat()
      #expect(lstat(path, &status) == 0)
      let isFile = status.st_mode & S_IFMT == S_IFREG
      let bytes = isFile ? (try? Files.bytes(of: path).hashValue) ?? 0 : 0
      #if canImport(Glibc)
      let time = status.st_mtim
      #else
      let time = status.st_mtimespec
      #endif
      description =
        "\(status.st_ino) \(status.st_size) \(status.st_mode) \(time.tv_sec).\(time.tv_nsec) \(bytes)"
    }
  }
}

/// A JSON object out of a command's output.
func object(_ ended: ChildProcess.Ended) throws -> [String: Any] {
  #expect(ended.stdout.isHarmlessText)
  let value = try JSONSerialization.jsonObject(with: Data(ended.stdout))
  return try #require(value as? [String: Any])
}
