// SPDX-License-Identifier: Apache-2.0

/// What a link is like in one direction.
public struct LinkShape: Sendable, Equatable {
  /// Bits a second, above 0.
  public var rate: Double
  /// Seconds from the last bit of a packet leaving one end to its arrival at the other.
  public var delay: Double
  /// The probability that a packet is lost, 0 ..< 1.
  public var loss: Double
  /// Bytes that may wait for their turn; a packet that finds no room is dropped.
  public var queue: Int

  /// Describes a direction without loss unless it is said.
  public init(rate: Double, delay: Double, loss: Double = 0, queue: Int) {
    self.rate = rate
    self.delay = delay
    self.loss = loss
    self.queue = queue
  }
}

/// One direction of a link: packets in, packets with their time of arrival out. A value: time and dice come as
/// arguments or from a seed, so one seed always loses the same packets.
public struct LinkQueue: Sendable {
  /// What became of the packets.
  public struct Counts: Sendable, Equatable {
    /// All that came.
    public var offered = 0
    /// Those that arrive at the other end.
    public var delivered = 0
    /// The bytes of these.
    public var deliveredBytes = 0
    /// By chance.
    public var lost = 0
    /// For want of room.
    public var overflowed = 0
  }

  private struct Departure {
    let leavesAt: Double
    let bytes: Int
  }

  /// What this direction is like.
  public let shape: LinkShape
  /// What became of the packets so far.
  public private(set) var counts = Counts()
  private var dice: UInt64
  /// When the packet before this one has left.
  private var freeAt = 0.0
  private var waiting: [Departure] = []
  private var firstWaiting = 0
  private var waitingBytes = 0

  /// An idle link. What is lost depends on `seed` and the number of packets before.
  public init(_ shape: LinkShape, seed: UInt64) {
    self.shape = shape
    dice = seed
  }

  /// Takes a packet of `bytes` in at `now` (seconds on any monotonic clock).
  /// - Returns: when it arrives at the other end, never before an earlier one; nil where it is lost.
  public mutating func offer(bytes: Int, now: Double) -> Double? {
    counts.offered += 1
    let isLost = shape.loss > 0 && nextUnit() < shape.loss
    letGo(now: now)
    guard waitingBytes + bytes <= shape.queue else {
      counts.overflowed += 1
      return nil
    }
    // A packet that is lost on the way has used the link as any other.
    freeAt = max(freeAt, now) + Double(bytes) * 8 / shape.rate
    waiting.append(Departure(leavesAt: freeAt, bytes: bytes))
    waitingBytes += bytes
    guard !isLost else {
      counts.lost += 1
      return nil
    }
    counts.delivered += 1
    counts.deliveredBytes += bytes
    return freeAt + shape.delay
  }

  /// Forgets the packets that have left by `now`.
  private mutating func letGo(now: Double) {
    while firstWaiting < waiting.count, waiting[firstWaiting].leavesAt <= now {
      waitingBytes -= waiting[firstWaiting].bytes
      firstWaiting += 1
    }
    if firstWaiting == waiting.count || firstWaiting > 4096 {
      waiting.removeFirst(firstWaiting)
      firstWaiting = 0
    }
  }

  /// SplitMix64.
  private mutating func nextUnit() -> Double {
    dice &+= 0x9E37_79B9_7F4A_7C15
    var word = dice
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    word ^= word >> 31
    return Double(word >> 11) / Double(1 << 53)
  }
}
