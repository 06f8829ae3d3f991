// SPDX-License-Identifier: Apache-2.0

internal import CCurl
internal import HaulPlatform

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The libcurl multi handle and the loop over its sockets. One thread owns it and everything armed in it; only
/// its ``WakeUp`` may be used from elsewhere.
///
/// It asks libcurl about ready sockets alone (`curl_multi_socket_action`): with 64 connections on a real path,
/// walking every handle at each packet costs ten times the CPU of the bytes themselves.
package final class MultiLoop {
  private struct Watched {
    var events: Int16
    let transfer: Transfer
  }

  private let multi: UnsafeMutableRawPointer
  private var watched: [Int32: Watched] = [:]
  private var running: [UnsafeMutableRawPointer: Transfer] = [:]
  private var pollList: [pollfd] = []
  private var pollListIsStale = true
  /// When libcurl wants to be called about its timers, on the monotonic clock.
  private var timerDue: Double?
  /// Body bytes handed over since the loop began; tells a busy round from a quiet one.
  package var movedBytes = 0
  private var quietRound = false

  private let wakeUp: WakeUp

  /// A round that moved less than this lets the next one gather.
  private static let quietBytes = 64 * 1024
  /// How long to gather, in milliseconds: long against a packet, short against a round trip.
  private static let gatherMilliseconds: Int32 = 1
  /// With fewer transfers there is little to gather, and waiting would only add to each request.
  private static let fewTransfers = 4

  /// Nil where libcurl has no memory. `wakeUp` ends a wait of the loop from any thread.
  package init?(wakeUp: WakeUp) {
    guard CurlLibrary.isReady, let multi = curl_multi_init() else { return nil }
    self.multi = multi
    self.wakeUp = wakeUp
    haul_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
    haul_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 512)
    let context = Unmanaged.passUnretained(self).toOpaque()
    haul_multi_set_socket_function(multi, onSocketChange)
    haul_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, context)
    haul_multi_set_timer_function(multi, onTimerChange)
    haul_multi_set_pointer(multi, CURLMOPT_TIMERDATA, context)
  }

  deinit {
    for (handle, _) in running { curl_multi_remove_handle(multi, handle) }
    curl_multi_cleanup(multi)
  }

  package var runningCount: Int { running.count }

  /// Starts a request. Its events come during later rounds. False where libcurl refuses it.
  package func start(_ transfer: Transfer, _ request: TransferRequest) -> Bool {
    guard let handle = transfer.arm(request) else { return false }
    running[handle] = transfer
    guard curl_multi_add_handle(multi, handle) == CURLM_OK else {
      running[handle] = nil
      transfer.disarm()
      return false
    }
    return true
  }

  /// Ends a running request without a further event. Not from inside a delegate's call.
  package func remove(_ transfer: Transfer) {
    guard transfer.isRunning, let handle = transfer.handle else { return }
    curl_multi_remove_handle(multi, handle)
    running[handle] = nil
    transfer.disarm()
  }

  /// To be called after a transfer's ``Transfer/isHeld`` has changed.
  package func holdsChanged() { pollListIsStale = true }

  /// Waits until `deadline` (monotonic seconds) at most for sockets, timers or ``wakeUp``, and handles them.
  package func round(until deadline: Double) {
    if quietRound { gather() }
    if pollListIsStale { rebuildPollList() }
    let now = monotonicSeconds()
    let due = min(deadline, timerDue ?? deadline)
    let milliseconds = max(0, min((due - now) * 1000, 3_600_000)).rounded(.up)
    let ready = poll(&pollList, nfds_t(pollList.count), Int32(milliseconds))
    let before = movedBytes
    if ready > 0 { handleReadySockets() }
    if let timerDue, timerDue <= monotonicSeconds() {
      self.timerDue = nil
      action(CURL_SOCKET_TIMEOUT, 0)
    }
    handleEnded()
    let moved = movedBytes - before
    quietRound = moved > 0 && moved < Self.quietBytes && running.count >= Self.fewTransfers
  }

  /// Lets packets of many connections collect, but hears a call from another thread at once.
  private func gather() {
    var only = pollfd(fd: wakeUp.readDescriptor, events: Int16(POLLIN), revents: 0)
    _ = poll(&only, 1, Self.gatherMilliseconds)
  }

  private func rebuildPollList() {
    pollListIsStale = false
    pollList.removeAll(keepingCapacity: true)
    pollList.append(pollfd(fd: wakeUp.readDescriptor, events: Int16(POLLIN), revents: 0))
    for (descriptor, entry) in watched where !entry.transfer.isHeld && entry.events != 0 {
      pollList.append(pollfd(fd: descriptor, events: entry.events, revents: 0))
    }
  }

  private func handleReadySockets() {
    if pollList[0].revents != 0 { wakeUp.drain() }
    // The list may be rebuilt by callbacks only after this walk, and a socket may go while others are handled.
    for index in 1..<max(1, pollList.count) where pollList[index].revents != 0 {
      let entry = pollList[index]
      guard let current = watched[entry.fd], !current.transfer.isHeld else { continue }
      var bits: Int32 = 0
      if entry.revents & Int16(POLLIN | POLLHUP) != 0 { bits |= CURL_CSELECT_IN }
      if entry.revents & Int16(POLLOUT) != 0 { bits |= CURL_CSELECT_OUT }
      if entry.revents & Int16(POLLERR | POLLNVAL) != 0 { bits |= CURL_CSELECT_ERR }
      action(entry.fd, bits)
    }
  }

  private func action(_ socket: Int32, _ bits: Int32) {
    var count: Int32 = 0
    _ = curl_multi_socket_action(multi, socket, bits, &count)
  }

  private func handleEnded() {
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
      let code = haul_message_result(message)
      guard let transfer = running.removeValue(forKey: handle) else { continue }
      curl_multi_remove_handle(multi, handle)
      let outcome = transfer.finish(code)
      transfer.delegate?.transfer(transfer, ended: outcome)
    }
  }

  // MARK: For the callbacks

  fileprivate func socketChanged(_ easy: UnsafeMutableRawPointer?, _ socket: Int32, _ what: Int32) {
    pollListIsStale = true
    guard what != CURL_POLL_REMOVE, let easy, let transfer = running[easy] else {
      watched[socket] = nil
      return
    }
    var events: Int16 = 0
    if what & CURL_POLL_IN != 0 { events |= Int16(POLLIN) }
    if what & CURL_POLL_OUT != 0 { events |= Int16(POLLOUT) }
    watched[socket] = Watched(events: events, transfer: transfer)
  }

  fileprivate func timerChanged(_ milliseconds: Int) {
    timerDue = milliseconds < 0 ? nil : monotonicSeconds() + Double(milliseconds) / 1000
  }
}

private func onSocketChange(
  _ easy: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ what: Int32,
  _ context: UnsafeMutableRawPointer?, _ socketContext: UnsafeMutableRawPointer?
) -> Int32 {
  guard let context else { return 0 }
  Unmanaged<MultiLoop>.fromOpaque(context).takeUnretainedValue().socketChanged(easy, socket, what)
  return 0
}

private func onTimerChange(
  _ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?
) -> Int32 {
  guard let context else { return 0 }
  Unmanaged<MultiLoop>.fromOpaque(context).takeUnretainedValue().timerChanged(milliseconds)
  return 0
}
