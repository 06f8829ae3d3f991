// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Link

/// Packets of one direction on their way from one device to the other.
struct PacketPipe {
  private struct Packet {
    let arrivesAt: Double
    let bytes: [UInt8]
  }

  private let source: Int32
  private let sink: Int32
  private var queue: LinkQueue
  private var inFlight: [Packet] = []
  private var first = 0

  init(from source: Int32, to sink: Int32, _ queue: LinkQueue) {
    self.source = source
    self.sink = sink
    self.queue = queue
  }

  var counts: LinkQueue.Counts { queue.counts }

  /// When the next packet arrives; nil where none is on its way.
  var nextArrival: Double? { first < inFlight.count ? inFlight[first].arrivesAt : nil }

  /// Takes in what the source has.
  mutating func take(into room: UnsafeMutableRawBufferPointer, clock: () -> Double) {
    while true {
      let count = read(source, room.baseAddress, room.count)
      guard count > 0 else { return }
      guard let arrival = queue.offer(bytes: count, now: clock()) else { continue }
      inFlight.append(Packet(arrivesAt: arrival, bytes: Array(room.prefix(count))))
    }
  }

  /// Hands over what has arrived by `now`.
  mutating func deliver(now: Double) {
    while first < inFlight.count, inFlight[first].arrivesAt <= now {
      // A device that is down, or has no room, loses it: as a real one would.
      _ = inFlight[first].bytes.withUnsafeBytes { write(sink, $0.baseAddress, $0.count) }
      first += 1
    }
    if first == inFlight.count || first > 4096 {
      inFlight.removeFirst(first)
      first = 0
    }
  }
}
