// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// An origin, a folder, and the command between them.
final class Arena: Sendable {
  let origin: Origin
  let folder: TemporaryDirectory

  init(
    _ resources: [String: OriginResource] = [:], configuration: OriginConfiguration = OriginConfiguration()
  ) throws {
    origin = Origin(resources, configuration: configuration)
    try origin.start()
    folder = try TemporaryDirectory()
  }

  deinit { origin.stop() }

  /// Arguments that fetch `path` into the folder.
  func arguments(_ path: String, _ more: [String]) -> [String] {
    [origin.url(path), "-d", folder.path] + more
  }

  func start(
    _ path: String, _ more: String..., output: ChildProcess.Output = .pipes
  ) throws -> ChildProcess {
    try HaulProcess.start(arguments(path, more), output: output)
  }

  func run(_ path: String, _ more: String...) throws -> ChildProcess.Ended {
    try HaulProcess.run(arguments(path, more))
  }

  /// Waits until `count` requests are held at a gate.
  func waitUntilHeld(_ count: Int) -> Bool {
    origin.waitUntil(timeout: .seconds(30)) { $0.requests.count { $0.heldAt != nil } >= count }
  }

  var names: [String] { Files.names(in: folder.path) }

  /// Whether a file in the folder, or at this absolute path, has exactly these bytes.
  func holds(_ name: String, _ content: ReferenceContent) throws -> Bool {
    let path = name.hasPrefix("/") ? name : folder.path(of: name)
    guard Files.size(of: path) == content.length else { return false }
    var offset = 0
    var isSame = true
    try Files.read(path) { piece in
      let wanted = content.bytes(in: offset..<offset + piece.count)
      let equal = wanted.withUnsafeBytes { memcmp($0.baseAddress!, piece.baseAddress!, piece.count) == 0 }
      isSame = isSame && equal
      offset += piece.count
    }
    return isSame
  }
}

extension OriginResource {
  /// Holds every body at this position until the gate "gate" is opened.
  func gated(at position: Int) -> OriginResource {
    var resource = self
    resource.gate = Gate("gate", at: position)
    return resource
  }
}

extension Journal {
  /// The bytes asked for by requests from number `first` on, as ascending ranges that do not touch.
  func requested(from first: Int, length: Int) -> [Range<Int>] {
    var merged: [Range<Int>] = []
    let ranges = requests[first...].compactMap { $0.range?.resolved(length: length) }
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = merged.last, range.lowerBound <= last.upperBound {
        merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    return merged
  }
}

extension [UInt8] {
  /// Whether no byte in it acts on a terminal: no C0 but the line feed, no DEL, no C1 in UTF-8, valid UTF-8.
  var isHarmlessText: Bool {
    guard let text = String(validating: self, as: UTF8.self) else { return false }
    return text.unicodeScalars.allSatisfy { scalar in
      scalar == "\n" || scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value)
    }
  }
}
