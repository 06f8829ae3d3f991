// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Link

/// The arguments of the link: `--name value` pairs.
struct Options {
  static let usage = """
    usage: haul-link --server DEVICE --client DEVICE --rate BITS --delay SECONDS
                     [--loss PROBABILITY] [--queue BYTES] [--seed NUMBER]

    A link between two TUN devices, which it makes. Rate, delay (one way) and queue hold in each direction, loss
    from the server to the client only. Prints "ready", and at SIGTERM or SIGINT what became of the packets, as JSON.
    """

  var server = ""
  var client = ""
  var shape = LinkShape(rate: 0, delay: -1, queue: 0)
  var seed: UInt64 = 1

  /// Nil where the arguments make no sense.
  init?(_ arguments: [String]) {
    guard arguments.count.isMultiple(of: 2) else { return nil }
    for index in stride(from: 0, to: arguments.count, by: 2) {
      let value = arguments[index + 1]
      switch arguments[index] {
      case "--server": server = value
      case "--client": client = value
      case "--rate": shape.rate = Double(value) ?? 0
      case "--delay": shape.delay = Double(value) ?? -1
      case "--loss": shape.loss = Double(value) ?? -1
      case "--queue": shape.queue = Int(value) ?? -1
      case "--seed":
        guard let number = UInt64(value) else { return nil }
        seed = number
      default: return nil
      }
    }
    // As much as is under way on a full link, both ways: what routers were long advised to hold.
    if shape.queue == 0 { shape.queue = max(64 * 1024, Int(shape.rate / 8 * shape.delay * 2)) }
    guard !server.isEmpty, !client.isEmpty, shape.rate > 0, shape.delay >= 0, shape.queue > 0,
      (0..<1).contains(shape.loss)
    else { return nil }
  }
}
