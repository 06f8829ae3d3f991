// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Haul
import HaulCore
import HaulDigest
import HaulOrigin

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// `haul demo`: shows what Haul does, with no network.
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract:
      "Fetch a generated file from a server inside this process, over one connection and then by Haul.")

  /// The way many servers behave: each connection gets so much and no more.
  private static let capPerConnection = 20_000_000
  private static let length = 200_000_000

  func run() async throws {
    let content = ReferenceContent(seed: 2026, length: Self.length)
    let origin = Origin([
      "/demo.img": .reference(seed: 2026, length: Self.length, bytesPerSecond: Self.capPerConnection)
    ])
    try origin.start()
    defer { origin.stop() }
    let folder = try TemporaryFolder(for: "demo", room: "400 MB")
    defer { folder.remove(files: ["one-connection.img", "haul.img"]) }
    let digest = HexDigest(bytes: try Self.sha256(of: content)).hex

    Terminal.print(
      "A server in this process gives each connection \(Quantities.bytes(Self.capPerConnection))/s.")
    Terminal.print("The file has \(Quantities.bytes(Self.length)); its SHA-256 is known beforehand.")
    Terminal.print("")
    Terminal.print("Over one connection, as most programs do:")
    let downloader = try Downloader()
    let single = try await fetch(
      origin.url("/demo.img"), to: folder.path + "/one-connection.img", digest: digest, .fixed(1), downloader)
    Terminal.print("")
    Terminal.print("By Haul:")
    let haul = try await fetch(
      origin.url("/demo.img"), to: folder.path + "/haul.img", digest: digest, .automatic, downloader)
    Terminal.print("")
    Terminal.print("one connection  \(Quantities.elapsed(single.seconds))")
    Terminal.print(
      "Haul            \(Quantities.elapsed(haul.seconds))  (\(haul.connections) connections, "
        + "\(Quantities.fixed(single.seconds / haul.seconds, 1)) times as fast, both verified)")
  }

  private func fetch(
    _ url: String, to path: String, digest: String, _ connections: DownloadOptions.Connections,
    _ downloader: Downloader
  ) async throws -> DownloadResult {
    var request = DownloadRequest(url: url, output: .file(path), sha256: digest)
    request.options.connections = connections
    let download = downloader.start(request)
    SignalTrap.onInterrupt { download.cancel() }
    switch await Display(quiet: false).follow(download) {
    case .success(let result): return result
    case .failure(let error): throw ExitCode(ExitStatus.of(error.code))
    }
  }

  /// The digest of what the server is going to send, computed from the same formula and not from the download.
  private static func sha256(of content: ReferenceContent) throws -> [UInt8] {
    let digest = try Digest(.sha256)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
    defer { buffer.deallocate() }
    var offset = 0
    while offset < content.length {
      let piece = UnsafeMutableRawBufferPointer(
        rebasing: buffer[..<min(buffer.count, content.length - offset)])
      content.fill(piece, at: offset)
      digest.update(UnsafeRawBufferPointer(piece))
      offset += piece.count
    }
    return digest.finish()
  }
}
