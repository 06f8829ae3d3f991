// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDisk
internal import HaulPlatform
internal import HaulTransport

/// What one engine shares among its downloads; safe to use from every thread.
final class EngineShare: Sendable {
  let mail: EngineMail
  let pool: BufferPool
  let disk: any DiskOperations
  let lanes = DiskLanes()

  init(mail: EngineMail, pool: BufferPool, disk: any DiskOperations) {
    self.mail = mail
    self.pool = pool
    self.disk = disk
  }
}

/// The one thread that owns the libcurl multi handle and every download's driver. It never waits for a disk and
/// never hashes.
final class Engine {
  let loop: MultiLoop
  let share: EngineShare
  private var drivers: [Int: Driver] = [:]
  private var isShuttingDown = false

  /// How often each driver looks around when nothing happens, in seconds.
  private static let tick = 0.1
  /// How often while a digest catches up, in seconds.
  private static let pace = 0.004

  private init(loop: MultiLoop, share: EngineShare) {
    self.loop = loop
    self.share = share
  }

  /// Starts the thread. It ends after a ``EngineMail/Letter/shutDown``, when the last driver has ended.
  static func start(share: EngineShare, wakeUp: WakeUp) {
    startThread(name: "haul-engine") {
      guard let loop = MultiLoop(wakeUp: wakeUp) else { return refuseAll(share: share) }
      Engine(loop: loop, share: share).run()
    }
  }

  /// Without libcurl nothing can be fetched; every download is told so instead of waiting for ever.
  private static func refuseAll(share: EngineShare) {
    while true {
      for letter in share.mail.waitForLetters() {
        if case .start(let setup) = letter {
          setup.download.end(
            .failure(DownloadError(.other, "libcurl could not be started", advice: "check the memory left")))
        }
        if case .shutDown = letter { return }
      }
    }
  }

  private func run() {
    var nextTick = monotonicSeconds() + Self.tick
    while !(isShuttingDown && drivers.isEmpty) {
      loop.round(until: deadline(tick: nextTick))
      for letter in share.mail.takeAll() { handle(letter) }
      let now = monotonicSeconds()
      let ticks = now >= nextTick
      if ticks { nextTick = now + Self.tick }
      for driver in drivers.values { driver.turn(now: now, ticks: ticks) }
      drivers = drivers.filter { !$0.value.hasEnded }
    }
  }

  private func deadline(tick: Double) -> Double {
    if drivers.isEmpty { return monotonicSeconds() + 3600 }
    // A digest that catches up sends no letters; looking is cheaper.
    return drivers.values.contains { $0.isPaced } ? min(tick, monotonicSeconds() + Self.pace) : tick
  }

  private func handle(_ letter: EngineMail.Letter) {
    switch letter {
    case .start(let setup):
      let driver = Driver(setup: setup, engine: self)
      drivers[setup.id] = driver
      driver.start()
    case .event(let event, let id):
      if let driver = drivers[id], !driver.hasEnded {
        driver.handle(event)
      } else if case .noRoom(_, let buffer, _, let account) = event {
        // Its download is over, the pool is everybody's.
        share.pool.giveBack(buffer, account: account)
      }
    case .shutDown:
      isShuttingDown = true
      for driver in drivers.values { driver.handle(.cancel) }
    }
  }
}
