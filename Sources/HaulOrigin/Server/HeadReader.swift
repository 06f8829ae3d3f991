// SPDX-License-Identifier: Apache-2.0

/// Cuts the input of one connection into request heads of bounded size. Pipelined heads wait in `buffered`.
struct HeadReader {
  /// Bytes of a head at most.
  static let limit = 64 << 10

  enum Next {
    case head([UInt8])
    case tooLarge
    /// End of stream, error, or too long without a request.
    case closed
  }

  private let socket: Socket
  private var buffered: [UInt8] = []

  init(socket: Socket) { self.socket = socket }

  /// `idleTimeout`: milliseconds without a byte; nil waits for ever.
  mutating func next(idleTimeout: Int?) -> Next {
    var searched = 0
    while true {
      if searched == 0 { dropLeadingLineEnds() }
      if let end = Self.endOfHead(buffered, from: max(0, searched - 3)) {
        let head = Array(buffered[..<end])
        buffered.removeFirst(end)
        return .head(head)
      }
      if buffered.count > Self.limit { return .tooLarge }
      searched = buffered.count
      if let idleTimeout,
        socket.rest(nanoseconds: idleTimeout * 1_000_000, noticing: .input) != .input
      {
        return .closed
      }
      guard readMore() else { return .closed }
    }
  }

  private mutating func readMore() -> Bool {
    withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { space in
      let count = socket.receive(space)
      buffered.append(contentsOf: space[..<count])
      return count > 0
    }
  }

  /// RFC 9112 section 2.2: empty lines before a request line are ignored.
  private mutating func dropLeadingLineEnds() {
    buffered = Array(buffered.drop { $0 == 0x0D || $0 == 0x0A })
  }

  /// The index after the empty line that ends a head; LF alone counts as a line end.
  static func endOfHead(_ bytes: [UInt8], from start: Int) -> Int? {
    var index = start
    while index < bytes.count {
      if bytes[index] == 0x0A {
        var next = index + 1
        if next < bytes.count, bytes[next] == 0x0D { next += 1 }
        if next < bytes.count, bytes[next] == 0x0A { return next + 1 }
      }
      index += 1
    }
    return nil
  }
}
