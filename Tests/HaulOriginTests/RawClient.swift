// SPDX-License-Identifier: Apache-2.0

@testable import HaulOrigin

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The smallest client that shows what really came over the wire. Reads give up after ten seconds.
final class RawClient {
  struct Failure: Error { var what: String }

  enum End: Equatable { case closed, reset, timedOut }

  private let descriptor: Int32
  private var buffered: [UInt8] = []
  private(set) var end: End?

  init(_ origin: Origin, receiveBuffer: Int32? = nil) throws {
    #if canImport(Glibc)
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
    descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    var timeout = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    if var size = receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = origin.port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else { throw Failure(what: "connect: \(errno)") }
  }

  deinit { close(descriptor) }

  func send(_ text: String) { send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) {
    var sent = 0
    while sent < bytes.count {
      #if canImport(Glibc)
      let flags = Int32(MSG_NOSIGNAL)
      #else
      let flags: Int32 = 0
      #endif
      let count = bytes.withUnsafeBytes { space in
        #if canImport(Glibc)
        Glibc.send(descriptor, space.baseAddress.map { $0 + sent }, bytes.count - sent, flags)
        #else
        Darwin.send(descriptor, space.baseAddress.map { $0 + sent }, bytes.count - sent, flags)
        #endif
      }
      if count <= 0 {
        // Whichever call meets the reset first is the only one that is told.
        if errno == ECONNRESET || errno == EPIPE { end = .reset }
        return
      }
      sent += count
    }
  }

  /// Asks and reads the whole answer.
  func request(_ path: String, method: String = "GET", _ fields: [String] = []) throws -> RawResponse {
    ask(path, method: method, fields)
    return try response(toHead: method == "HEAD")
  }

  func ask(_ path: String, method: String = "GET", _ fields: [String] = []) {
    let lines = ["\(method) \(path) HTTP/1.1", "Host: test"] + fields
    send(lines.joined(separator: "\r\n") + "\r\n\r\n")
  }

  /// Reads one response with whatever framing it declares; a body that ends too soon is returned as it is.
  func response(toHead: Bool = false) throws -> RawResponse {
    var response = try head()
    if toHead || response.status == 304 { return response }
    if response["Transfer-Encoding"] == "chunked" {
      response.body = chunkedBody()
    } else {
      response.body = read(response["Content-Length"].flatMap { Int($0) } ?? .max)
    }
    return response
  }

  /// Reads only the head of a response.
  func head() throws -> RawResponse {
    var bytes: [UInt8] = []
    while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) {
      let next = read(1)
      if next.isEmpty { throw Failure(what: "no head, but \(String(decoding: bytes, as: UTF8.self))") }
      bytes += next
    }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n")
    let words = lines[0].split(separator: " ")
    guard words.count > 1, let status = Int(words[1]) else { throw Failure(what: String(lines[0])) }
    let fields = lines.dropFirst().map { line in
      let colon = line.firstIndex(of: ":") ?? line.endIndex
      return HeaderField(String(line[..<colon]), String(line[colon...].dropFirst(2)))
    }
    return RawResponse(status: status, fields: fields)
  }

  /// At most so many bytes; fewer only at the end of the stream.
  func read(_ count: Int) -> [UInt8] {
    while buffered.count < count, end == nil { readMore() }
    let result = Array(buffered.prefix(count))
    buffered.removeFirst(result.count)
    return result
  }

  func readToEnd() -> [UInt8] { read(.max) }

  private func chunkedBody() -> [UInt8] {
    var body: [UInt8] = []
    while true {
      var line: [UInt8] = []
      while !line.suffix(2).elementsEqual("\r\n".utf8) {
        let next = read(1)
        if next.isEmpty { return body }
        line += next
      }
      let count = Int(String(decoding: line.dropLast(2), as: UTF8.self), radix: 16) ?? 0
      let part = read(count)
      body += part
      _ = read(2)
      if count == 0 || part.count < count { return body }
    }
  }

  private func readMore() {
    withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { space in
      let count = recv(descriptor, space.baseAddress, space.count, 0)
      if count > 0 {
        buffered.append(contentsOf: space[..<count])
      } else if count == 0 {
        end = .closed
      } else {
        end = errno == ECONNRESET ? .reset : .timedOut
      }
    }
  }
}

struct RawResponse {
  var status: Int
  var fields: [HeaderField]
  var body: [UInt8] = []

  subscript(name: String) -> String? { fields[name] }
}

/// Runs `body` against a started origin and stops it whatever happens.
func withOrigin(
  _ resources: [String: OriginResource], configuration: OriginConfiguration = OriginConfiguration(),
  _ body: (Origin) throws -> Void
) throws {
  let origin = Origin(resources, configuration: configuration)
  try origin.start()
  defer { origin.stop() }
  try body(origin)
}
