// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The body of the accepting thread: one thread per connection, all of them joined before it returns.
struct Acceptor: Sendable {
  let listener: Listener
  let state: Monitor<OriginState>

  func run() {
    var threads: [Int: JoinableThread] = [:]
    accepting: while true {
      switch listener.next() {
      case .woken: break accepting
      case .nothing: continue
      case .connection(let descriptor):
        // Only this thread starts and joins, so a finished one is always found in `threads`.
        for finished in state.withLock({ $0.takeFinishedThreads() }) {
          threads.removeValue(forKey: finished)?.join()
        }
        if let (number, thread) = serve(Socket(descriptor: descriptor)) { threads[number] = thread }
      }
    }
    for thread in threads.values { thread.join() }
  }

  private func serve(_ socket: Socket) -> (Int, JoinableThread)? {
    guard let admission = state.withLock({ $0.admit(socket) }) else {
      close(socket.descriptor)
      return nil
    }
    socket.setOption(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    #if !canImport(Glibc)
    socket.setOption(SOL_SOCKET, SO_NOSIGPIPE, 1)
    #endif
    if let size = admission.sendBuffer { socket.setOption(SOL_SOCKET, SO_SNDBUF, Int32(clamping: size)) }
    if admission.refusal == .reset {
      state.withLock { $0.leave(admission) }
      socket.reset()
      return nil
    }
    do throws(OriginError) {
      let thread = try JoinableThread { [state] in
        Connection(socket: socket, admission: admission, state: state).run()
        state.withLock { $0.threadFinished(admission.connection) }
      }
      return (admission.connection, thread)
    } catch {
      // No thread to be had: to the client this is one more refused connection.
      state.withLock { $0.leave(admission) }
      close(socket.descriptor)
      return nil
    }
  }
}
