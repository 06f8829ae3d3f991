// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// An HTTP/1.1 origin on 127.0.0.1 inside this process, which serves generated content, misbehaves as told,
/// and keeps a journal of what it saw. All members may be called from any thread.
package final class Origin: Sendable {
  private let state: Monitor<OriginState>
  private let running = Mutex<Running?>(nil)

  private struct Running: Sendable {
    var listener: Listener
    var acceptor: JoinableThread
  }

  package init(
    _ resources: [String: OriginResource] = [:], configuration: OriginConfiguration = OriginConfiguration()
  ) {
    state = Monitor(OriginState(configuration, resources))
  }

  deinit { stop() }

  /// Listens and accepts. Once per origin: a stopped one does not start again.
  package func start() throws(OriginError) {
    let port = state.withLock { $0.configuration.port }
    try running.withLock { (running: inout Running?) throws(OriginError) in
      guard running == nil else { return }
      let listener = try Listener(port: port)
      do throws(OriginError) {
        let acceptor = Acceptor(listener: listener, state: state)
        running = Running(listener: listener, acceptor: try JoinableThread { acceptor.run() })
      } catch {
        listener.closeAll()
        throw error
      }
    }
  }

  /// Cuts every connection, joins every thread and closes every descriptor. The journal stays readable. May
  /// be called more than once.
  package func stop() {
    let stopped = running.withLock { running in
      defer { running = nil }
      return running
    }
    guard let stopped else { return }
    state.withLock { $0.stop() }
    stopped.listener.wake()
    stopped.acceptor.join()
    stopped.listener.closeAll()
  }

  /// The port; 0 while not running.
  package var port: UInt16 { running.withLock { $0?.listener.port ?? 0 } }

  /// `http://127.0.0.1:PORT` and a path that starts with `/`.
  package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

  // MARK: Resources and configuration

  /// Puts a resource in place of any other at this path (no query), with its counters as they are in the
  /// value.
  package func put(_ resource: OriginResource, at path: String) {
    state.withLock { $0.resources[path] = resource }
  }

  package func remove(_ path: String) { state.withLock { $0.resources[path] = nil } }

  /// Changes a resource where it is; later requests see it. Nothing happens when there is none.
  /// `change` runs with the origin locked and must not call it.
  package func update(_ path: String, _ change: (inout OriginResource) -> Void) {
    state.withLock { state in
      guard var resource = state.resources[path] else { return }
      change(&resource)
      state.resources[path] = resource
    }
  }

  /// Changes limits and rates; later connections, requests and slices see it.
  package func configure(_ change: (inout OriginConfiguration) -> Void) {
    state.withLock { change(&$0.configuration) }
  }

  // MARK: Gates

  /// Lets the bodies that are held at this gate go on, and all later ones pass.
  package func openGate(_ name: String) { state.withLock { _ = $0.openGates.insert(name) } }

  package func closeGate(_ name: String) { state.withLock { _ = $0.openGates.remove(name) } }

  // MARK: Journal

  /// A snapshot of everything so far. A client may have the last byte of a response shortly before the
  /// journal says so: see `waitUntilIdle`.
  package func journal() -> Journal { state.withLock { $0.journal } }

  /// A snapshot of the requests so far, in order of arrival.
  package func requests() -> [RequestRecord] { journal().requests }

  /// Blocks the calling thread until the journal satisfies `condition`, or the time is up; says which. Looked
  /// at again after every change, body progress included. The condition runs with the origin locked.
  package func waitUntil(timeout: Duration = .seconds(10), _ condition: (Journal) -> Bool) -> Bool {
    let parts = timeout.components
    let nanoseconds = Int(parts.seconds) * 1_000_000_000 + Int(parts.attoseconds / 1_000_000_000)
    return state.wait(nanoseconds: nanoseconds) { condition($0.journal) }
  }

  /// Blocks until no request is being answered.
  package func waitUntilIdle(timeout: Duration = .seconds(10)) -> Bool {
    waitUntil(timeout: timeout) { $0.activeRequests == 0 }
  }
}
