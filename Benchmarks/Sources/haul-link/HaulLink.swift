// SPDX-License-Identifier: Apache-2.0

internal import CTun
internal import Glibc
internal import Link

/// A link with a rate, a delay, loss and a queue, between two TUN devices that whoever starts it moves into
/// network namespaces of their own. Real TCP of the kernel runs over it.
@main
enum HaulLink {
  static func main() {
    guard let options = Options(Array(CommandLine.arguments.dropFirst())) else {
      complain(Options.usage)
      exit(64)
    }
    let (server, client) = (open(options.server), open(options.client))
    tun_sharpen_timers()
    signal(SIGTERM) { _ in stopping = 1 }
    signal(SIGINT) { _ in stopping = 1 }
    say(1, "ready")
    run(options, server: server, client: client)
  }

  private static func open(_ name: String) -> Int32 {
    let file = tun_open(name)
    guard file >= 0 else {
      complain("haul-link: the TUN device \(name) could not be made: \(String(cString: strerror(errno)))")
      exit(1)
    }
    return file
  }

  private static func run(_ options: Options, server: Int32, client: Int32) {
    var lossless = options.shape
    lossless.loss = 0
    var down = PacketPipe(from: server, to: client, LinkQueue(options.shape, seed: options.seed))
    var up = PacketPipe(from: client, to: server, LinkQueue(lossless, seed: options.seed &+ 1))
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    while stopping == 0 {
      var wait = 0.1
      for arrival in [down.nextArrival, up.nextArrival] {
        if let arrival { wait = min(wait, max(0, arrival - seconds())) }
      }
      tun_wait(server, client, Int64(wait * 1e9))
      down.take(into: room, clock: seconds)
      up.take(into: room, clock: seconds)
      let now = seconds()
      down.deliver(now: now)
      up.deliver(now: now)
    }
    say(1, "{\"down\": \(text(down.counts)), \"up\": \(text(up.counts))}")
  }

  private static func text(_ counts: LinkQueue.Counts) -> String {
    """
    {"offered": \(counts.offered), "delivered": \(counts.delivered), "delivered_bytes": \(counts.deliveredBytes), \
    "lost": \(counts.lost), "overflowed": \(counts.overflowed)}
    """
  }

  private static func seconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private static func complain(_ text: String) { say(2, text) }

  /// At once, without a buffer: whoever started this waits for the line.
  private static func say(_ file: Int32, _ text: String) {
    let line = Array((text + "\n").utf8)
    _ = line.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
  }
}

/// Set by the signal handlers, looked at ten times a second. Unsafe in name only: there is one thread, and a
/// `sig_atomic_t` is what a handler may write.
nonisolated(unsafe) private var stopping: sig_atomic_t = 0
