// SPDX-License-Identifier: Apache-2.0

import Haul
import HaulCore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What `--checksum-file` names: a file, or a URL whose text is fetched first.
struct ChecksumList {
  let place: String
  let list: ChecksumFile

  /// - Parameter request: the first download; its headers and its login go to the list too where that is at its origin.
  static func load(
    _ place: String, like request: DownloadRequest, with downloader: Downloader
  ) async throws -> ChecksumList {
    guard isURL(place) else { return try ChecksumList(place, bytes: read(place)) }
    let shown = RequestURL.shown(place)
    let folder = try TemporaryFolder(for: "checksums", room: "4 MB")
    defer { folder.remove(files: ["list"]) }
    var fetch = request
    fetch.url = place
    fetch.output = .file(folder.path + "/list")
    fetch.checksum = nil
    if !RequestURL.haveSameOrigin(place, request.url) {
      fetch.headers = []
      fetch.login = .none
    }
    fetch.options.connections = .fixed(1)
    fetch.options.computesDigest = false
    fetch.options.serverDigests = .ignored
    fetch.options.isDurable = false
    fetch.options.overwrites = false
    fetch.options.mostBytes = ChecksumFile.mostBytes
    let download = downloader.start(fetch)
    SignalTrap.onInterrupt { download.cancel() }
    let result: DownloadResult
    do throws(DownloadError) {
      result = try await download.result()
    } catch {
      var error = error
      // What went wrong there is not about the file that is wanted.
      error.message = "the checksum file: " + error.message
      error.kept = nil
      throw error
    }
    return try ChecksumList(shown, bytes: read(result.path))
  }

  private init(_ place: String, bytes: [UInt8]) throws {
    self.place = place
    do throws(ChecksumFileProblem) {
      list = try ChecksumFile(bytes)
    } catch {
      throw Self.refused(place, error)
    }
  }

  /// The digest of the file that `url` brings: of the URL's own name, else of the name that `-o` gives.
  func checksum(of url: String, output: String?) throws(DownloadError) -> Checksum {
    let names = [RequestURL.fileName(url), output.flatMap(Self.lastComponent)].compactMap { $0 }
    guard let first = names.first else {
      throw DownloadError(
        .invalidRequest, "\(RequestURL.shown(url)) names no file to look for in \(place)",
        advice: "name it with -o")
    }
    do throws(ChecksumFileProblem) {
      if let other = names.dropFirst().first, !list.lists(first), list.lists(other) {
        return Checksum(try list.digest(of: other))
      }
      return Checksum(try list.digest(of: first))
    } catch {
      throw Self.refused(place, error)
    }
  }

  private static func refused(_ place: String, _ problem: ChecksumFileProblem) -> DownloadError {
    DownloadError(
      .invalidRequest, "the checksum file \(place): \(problem)", advice: "give the digest with --checksum")
  }

  private static func isURL(_ place: String) -> Bool {
    let start = place.prefix(8).lowercased()
    return start.hasPrefix("http://") || start.hasPrefix("https://")
  }

  private static func lastComponent(_ path: String) -> String? {
    path.split(separator: "/").last.map(String.init)
  }

  /// Reads a file, a pipe too, to its end or to one byte more than is allowed.
  private static func read(_ path: String) throws -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw unreadable(path) }
    defer { close(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count <= ChecksumFile.mostBytes {
      let count = readBytes(file, &piece, piece.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw unreadable(path) }
      if count == 0 { break }
      bytes += piece.prefix(count)
    }
    return bytes
  }

  private static func unreadable(_ path: String) -> DownloadError {
    DownloadError(
      .invalidRequest, "the checksum file \(path) cannot be read: \(String(cString: strerror(errno)))",
      advice: "check its name")
  }
}

// The type's own `read` would hide the system's.
private func readBytes(_ file: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
  read(file, buffer, count)
}
