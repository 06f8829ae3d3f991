// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDisk
internal import HaulTransport

/// One connection slot of a download: carries bytes from libcurl's callback into buffers, and events to the
/// driver. Lives on the engine's thread.
final class Connection: TransferDelegate {
  let index: Int
  let transfer: Transfer
  private unowned let driver: Driver
  private var buffer: Buffer?
  /// The offset in the file of the next byte of the body.
  private var offset = 0
  /// Where the present request went, and by how many redirects it got there.
  private(set) var route: Route
  /// What the present request asks for.
  private(set) var asked = PartRequest(range: nil)
  /// Bytes at the front of the body that nobody asked for.
  private var skip = 0
  private var redirect: String?
  /// What the present answer has to be by its own digest.
  private var check: BodyCheck?
  /// What the redirects on the way of the present request have declared.
  var hopDigests = ServerDigests()

  init(index: Int, driver: Driver, route: Route, options: TransportOptions, receiveBufferBytes: Int) {
    self.index = index
    self.driver = driver
    self.route = route
    transfer = Transfer(options: options, receiveBufferBytes: receiveBufferBytes)
    transfer.delegate = self
  }

  /// Sends a request on `route`. False where libcurl refuses it.
  func start(_ asked: PartRequest, route: Route, loop: MultiLoop) -> Bool {
    self.route = route
    self.asked = asked
    redirect = nil
    skip = 0
    check = nil
    let started = loop.start(transfer, route.request(asked))
    transfer.isHeld = driver.isHeldUp
    return started
  }

  /// How full the partly filled buffer is, in bytes.
  var partialBytes: Int { buffer?.count ?? 0 }

  /// Hands the partly filled buffer on.
  func submitPartial() {
    guard let full = buffer else { return }
    buffer = nil
    driver.submit(full, check)
  }

  /// Gives the partly filled buffer back unused.
  func dropPartial() {
    guard let partial = buffer else { return }
    buffer = nil
    driver.giveBack(partial)
  }

  // MARK: TransferDelegate

  func transfer(_ transfer: Transfer, received head: ResponseHead) -> BodyWish {
    switch driver.judge(head, connection: self) {
    case .take(let offset, let skip):
      self.offset = offset
      self.skip = skip
      // A body whose front is dropped never passes as a whole.
      check = skip == 0 && !asked.comparesPlace ? driver.bodyCheck(head) : nil
      return .take
    case .discard: return .discard
    case .stop: return .stop
    case .redirect(let location):
      redirect = location
      return .discard
    }
  }

  func transfer(_ transfer: Transfer, received bytes: UnsafeRawBufferPointer) -> Bool {
    let bytes = dropSkipped(bytes)
    if bytes.isEmpty { return true }
    if asked.comparesPlace {
      let (wanted, goesOn) = driver.received(bytes.count, connection: index)
      driver.comparison?.add(UnsafeRawBufferPointer(rebasing: bytes.prefix(wanted)), at: offset)
      offset += wanted
      return goesOn
    }
    // Before anything counts as received: what finds no room is asked for again.
    guard driver.makeRoom(for: bytes.count - (buffer.map { $0.limit - $0.count } ?? 0)) else { return false }
    let (wanted, goesOn) = driver.received(bytes.count, connection: index)
    var rest = UnsafeRawBufferPointer(rebasing: bytes.prefix(wanted))
    while !rest.isEmpty {
      let current = buffer ?? driver.newBuffer(at: offset)
      buffer = current
      let copied = current.append(rest)
      offset += copied
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(copied))
      if current.isFull { submitPartial() }
    }
    return goesOn
  }

  private func dropSkipped(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard skip > 0 else { return bytes }
    let dropped = min(skip, bytes.count)
    skip -= dropped
    return UnsafeRawBufferPointer(rebasing: bytes.dropFirst(dropped))
  }

  func transfer(_ transfer: Transfer, ended outcome: TransferOutcome) {
    submitPartial()
    if let location = redirect {
      redirect = nil
      return driver.follow(location, connection: self)
    }
    driver.ended(outcome, connection: self)
  }
}
