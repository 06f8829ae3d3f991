// SPDX-License-Identifier: Apache-2.0

internal import CPlatform

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// One named thread that runs jobs in the order in which they were submitted.
///
/// SIGPIPE is blocked on it, so that a library user's process keeps its own handling. All signals that a
/// program may wait for elsewhere (SIGINT, SIGTERM) are blocked too.
package final class Worker: Sendable {
  package typealias Job = @Sendable () -> Void

  private struct Queue {
    var jobs: [Job] = []
    var closing = false
    var running = true
  }

  private let queue: Monitor<Queue>

  package init(name: String) {
    let queue = Monitor(Queue())
    self.queue = queue
    startThread(name: name) { Self.run(queue) }
  }

  /// Adds a job behind all others. Bounded by its callers: buffers by the pool, everything else by one job of
  /// a kind at a time.
  package func submit(_ job: @escaping Job) {
    queue.signal { $0.jobs.append(job) }
  }

  /// Lets the thread end after the jobs that are already queued. Does not wait.
  package func close() {
    queue.signal { $0.closing = true }
  }

  /// Waits until the thread has run its last job after ``close()``.
  package func join() {
    queue.wait { $0.running ? nil : () }
  }

  private static func run(_ queue: Monitor<Queue>) {
    while let batch = queue.wait({ state -> [Job]?? in
      if !state.jobs.isEmpty {
        let jobs = state.jobs
        state.jobs = []
        return .some(jobs)
      }
      return state.closing ? .some(nil) : nil
    }) {
      for job in batch { job() }
    }
    queue.signal { $0.running = false }
  }
}

/// Starts a detached thread that runs `body` once, with SIGPIPE, SIGINT and SIGTERM blocked.
package func startThread(name: String, _ body: @escaping @Sendable () -> Void) {
  let box = Unmanaged.passRetained(ThreadBody(name: name, run: body))
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
  #if canImport(Glibc)
  var thread = pthread_t()
  let code = pthread_create(&thread, &attributes, threadEntry, box.toOpaque())
  #else
  var thread: pthread_t?
  let code = pthread_create(&thread, &attributes, threadEntry, box.toOpaque())
  #endif
  pthread_attr_destroy(&attributes)
  // Without its thread a job would wait for ever; the limit on threads is the system's, and it says which.
  precondition(
    code == 0, "no thread could be started (error \(code)): raise the limit on processes (ulimit -u)")
}

private final class ThreadBody: Sendable {
  let name: String
  let run: @Sendable () -> Void
  init(name: String, run: @escaping @Sendable () -> Void) {
    self.name = name
    self.run = run
  }
}

#if canImport(Glibc)
private func threadEntry(_ raw: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  if let raw { runThread(raw) }
  return nil
}
#else
private func threadEntry(_ raw: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
  runThread(raw)
  return nil
}
#endif

private func runThread(_ raw: UnsafeMutableRawPointer) {
  let body = Unmanaged<ThreadBody>.fromOpaque(raw).takeRetainedValue()
  var blocked = sigset_t()
  sigemptyset(&blocked)
  for signal in [SIGPIPE, SIGINT, SIGTERM] { sigaddset(&blocked, signal) }
  pthread_sigmask(SIG_BLOCK, &blocked, nil)
  haul_name_thread(body.name)
  body.run()
}
