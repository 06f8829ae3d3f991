// SPDX-License-Identifier: Apache-2.0

import Haul
import HaulDigest
import HaulDisk
import HaulOrigin
import TestSupport
import Testing

import enum HaulCore.DigestAlgorithm

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// How long a test waits for something that has to come: only a failing test ever waits so long.
let patience = Duration.seconds(40)

/// An origin, a folder and a downloader: what nearly every test needs.
final class Bench: Sendable {
  let origin: HaulOrigin.Origin
  let folder: TemporaryDirectory
  let downloader: Downloader

  init(
    _ resources: [String: OriginResource] = [:], configuration: OriginConfiguration = OriginConfiguration(),
    disk: any DiskOperations = SystemDisk(), bufferBytes: Int = 32 << 20
  ) throws {
    origin = HaulOrigin.Origin(resources, configuration: configuration)
    try origin.start()
    folder = try TemporaryDirectory()
    var settings = Downloader.Configuration()
    settings.bufferBytes = bufferBytes
    downloader = try Downloader(settings, disk: disk)
  }

  deinit { origin.stop() }

  /// A request for `path`, into `name` in the folder, or into the folder itself where that is nil.
  func request(
    _ path: String = "/f", to name: String? = "f", sha256: String? = nil, headers: [String] = [],
    _ tune: (inout DownloadOptions) -> Void = { _ in }
  ) -> DownloadRequest {
    var options = DownloadOptions()
    options.silenceTimeout = 600
    options.paceTimeout = 600
    options.stopPatience = 50
    tune(&options)
    return DownloadRequest(
      url: path.hasPrefix("/") ? origin.url(path) : path,
      output: name.map { .file(folder.path(of: $0)) } ?? .directory(folder.path), sha256: sha256,
      headers: headers,
      options: options)
  }

  func start(
    _ path: String = "/f", to name: String? = "f", sha256: String? = nil, headers: [String] = [],
    _ tune: (inout DownloadOptions) -> Void = { _ in }
  ) -> Download {
    downloader.start(request(path, to: name, sha256: sha256, headers: headers, tune))
  }

  /// Fetches to the end, which must be a good one.
  @discardableResult
  func fetch(
    _ path: String = "/f", to name: String? = "f", sha256: String? = nil, headers: [String] = [],
    _ tune: (inout DownloadOptions) -> Void = { _ in }
  ) async throws -> DownloadResult {
    try await start(path, to: name, sha256: sha256, headers: headers, tune).result()
  }

  /// Fetches to the end, which must be an error.
  func failure(
    _ path: String = "/f", to name: String? = "f", sha256: String? = nil, headers: [String] = [],
    _ tune: (inout DownloadOptions) -> Void = { _ in }, at location: SourceLocation = #_sourceLocation
  ) async -> DownloadError? {
    await start(path, to: name, sha256: sha256, headers: headers, tune).failure(at: location)
  }

  /// Waits for the origin's journal.
  func wait(at location: SourceLocation = #_sourceLocation, until condition: (Journal) -> Bool) {
    let came = origin.waitUntil(timeout: patience, condition)
    #expect(came, "the origin waited in vain", sourceLocation: location)
  }

  /// Starts a download of `path` that is held at a gate until `held` connections stand there and everything
  /// before it is in the file.
  func interrupted(
    _ path: String = "/f", sha256: String? = nil, gate: String = "hold", held: Int,
    at location: SourceLocation = #_sourceLocation, _ tune: (inout DownloadOptions) -> Void = { _ in }
  ) async -> DownloadError? {
    let download = start(path, sha256: sha256, tune)
    wait(at: location) { $0.requests.count { $0.heldAt == gate } == held }
    let sent = origin.journal().distinctBytesSent(path: path)
    // What was handed to the kernel arrives by itself; the rest stays behind the gate.
    // (Bytes that came before the file had its place may be dropped: they are in no buffer that could be written.)
    download.waitUntil { $0.received >= sent && $0.phase == .fetching }
    download.cancel()
    return await download.failure(at: location)
  }

  // MARK: Files

  /// The names in the folder, sorted.
  var names: [String] {
    guard let directory = opendir(folder.path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: $0.pointee)) {
          String(cString: $0)
        }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// The file in the folder is, byte by byte, what the origin's resource consists of.
  func expectFile(
    _ name: String = "f", seed: UInt64 = 1, length: Int, at location: SourceLocation = #_sourceLocation
  ) {
    let content = ReferenceContent(seed: seed, length: length)
    let difference = firstDifference(folder.path(of: name), from: content)
    #expect(difference == nil, "\(name) differs from its reference", sourceLocation: location)
  }

  func write(_ bytes: [UInt8], to name: String) throws {
    let file = open(folder.path(of: name), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    try #require(file >= 0)
    defer { close(file) }
    #expect(bytes.withUnsafeBytes { writeBytes(file, $0.baseAddress, $0.count) } == bytes.count)
  }

  func read(_ name: String, at offset: Int, count: Int) -> [UInt8] {
    let file = open(folder.path(of: name), O_RDONLY)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: count)
    let got = bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress, count, off_t(offset)) }
    return Array(bytes.prefix(max(0, got)))
  }

  /// Inverts one byte of a file, as a disk that rots does.
  func flip(_ name: String, at offset: Int) throws {
    let byte = try #require(read(name, at: offset, count: 1).first)
    let file = open(folder.path(of: name), O_WRONLY)
    try #require(file >= 0)
    defer { close(file) }
    var wrong = ~byte
    #expect(pwrite(file, &wrong, 1, off_t(offset)) == 1)
  }
}

extension Download {
  /// Waits for the end, which must be an error.
  func failure(at location: SourceLocation = #_sourceLocation) async -> DownloadError? {
    do throws(DownloadError) {
      let result = try await result()
      Issue.record("an error was due, not \(result)", sourceLocation: location)
      return nil
    } catch {
      return error
    }
  }
}

/// The offset of the first byte that is not the reference's, the length where only that differs, -1 where there
/// is no such file.
func firstDifference(_ path: String, from content: ReferenceContent) -> Int? {
  let file = open(path, O_RDONLY)
  guard file >= 0 else { return -1 }
  defer { close(file) }
  let piece = 1 << 20
  let (found, wanted) = (
    UnsafeMutableRawBufferPointer.allocate(byteCount: piece, alignment: 64),
    UnsafeMutableRawBufferPointer.allocate(byteCount: piece, alignment: 64)
  )
  defer {
    found.deallocate()
    wanted.deallocate()
  }
  var offset = 0
  while true {
    let count = readBytes(file, found.baseAddress, piece)
    guard count > 0 else { return offset == content.length ? nil : offset }
    content.fill(UnsafeMutableRawBufferPointer(rebasing: wanted[..<count]), at: offset)
    if memcmp(found.baseAddress!, wanted.baseAddress!, count) != 0 {
      return offset + (0..<count).first { found[$0] != wanted[$0] }!
    }
    offset += count
  }
}

/// The SHA-256 of reference content as hexadecimal digits.
func sha256(seed: UInt64 = 1, length: Int) throws -> String {
  let content = ReferenceContent(seed: seed, length: length)
  let digest = try Digest(.sha256)
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 64)
  defer { buffer.deallocate() }
  for offset in stride(from: 0, to: length, by: buffer.count) {
    let piece = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(length - offset))
    content.fill(piece, at: offset)
    digest.update(UnsafeRawBufferPointer(piece))
  }
  return hex(digest.finish())
}

func hex(_ bytes: [UInt8]) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

/// The ranges that requests asked for, as half-open offsets.
func asked(_ requests: some Sequence<RequestRecord>, length: Int) -> [Range<Int>] {
  requests.compactMap { $0.range?.resolved(length: length) }
}

// `Bench` has a `read` and a `write` of its own, which would hide the system's.
private func readBytes(_ file: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  read(file, buffer, count)
}

private func writeBytes(_ file: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
  write(file, buffer, count)
}
