// SPDX-License-Identifier: Apache-2.0

/// The output side of one connection: one reused buffer, in which a pending head, a slice of the body and its
/// chunk framing stand side by side, so that they leave in one call.
final class BodyWriter {
  /// Bytes of body per call at most.
  static let largestSlice = 256 << 10
  /// Room before the payload; a larger head is sent on its own.
  private static let room = 8 << 10

  var isChunked = false
  private let socket: Socket
  private let buffer: UnsafeMutableRawBufferPointer
  private var pending: [UInt8] = []

  init(socket: Socket) {
    self.socket = socket
    buffer = .allocate(byteCount: Self.room + Self.largestSlice + 2, alignment: 64)
  }

  deinit { buffer.deallocate() }

  /// Keeps bytes for the next call that sends.
  func queue(_ bytes: [UInt8]) { pending += bytes }

  /// Sends what is queued. False when the connection is gone.
  func flush() -> Bool {
    defer { pending.removeAll(keepingCapacity: true) }
    return pending.withUnsafeBytes { push($0, payload: 0..<0, progress: { _ in }) }
  }

  /// Sends what is queued and `count` body bytes (1 to `largestSlice`) that `fill` provides; tells `progress`
  /// how many of them the kernel took, as often as it takes some. False when the connection is gone.
  func send(_ count: Int, fill: (UnsafeMutableRawBufferPointer) -> Void, progress: (Int) -> Void) -> Bool {
    if isChunked { queue(Array((String(count, radix: 16) + "\r\n").utf8)) }
    if pending.count > Self.room, !flush() { return false }
    let start = Self.room - pending.count
    for (index, byte) in pending.enumerated() { buffer[start + index] = byte }
    fill(UnsafeMutableRawBufferPointer(rebasing: buffer[Self.room..<Self.room + count]))
    var end = Self.room + count
    if isChunked {
      buffer[end] = 0x0D
      buffer[end + 1] = 0x0A
      end += 2
    }
    let payload = pending.count..<pending.count + count
    pending.removeAll(keepingCapacity: true)
    return push(UnsafeRawBufferPointer(rebasing: buffer[start..<end]), payload: payload, progress: progress)
  }

  /// `payload`: which of the bytes count as body.
  private func push(_ bytes: UnsafeRawBufferPointer, payload: Range<Int>, progress: (Int) -> Void) -> Bool {
    var sent = 0
    while sent < bytes.count {
      guard let taken = socket.sendSome(UnsafeRawBufferPointer(rebasing: bytes[sent...])) else {
        return false
      }
      let counted = (sent..<sent + taken).clamped(to: payload).count
      sent += taken
      if counted > 0 { progress(counted) }
    }
    return true
  }
}
