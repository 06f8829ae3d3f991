// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A thread that somebody must join, once.
///
/// Sendable: a thread's handle is an opaque value that pthread calls take from any thread.
struct JoinableThread: @unchecked Sendable {
  private let handle: pthread_t

  init(_ body: @escaping @Sendable () -> Void) throws(OriginError) {
    let box = Unmanaged.passRetained(ThreadBody(body))
    #if canImport(Glibc)
    var created = pthread_t()
    let code = pthread_create(&created, nil, runThread, box.toOpaque())
    handle = created
    #else
    var created: pthread_t?
    let code = pthread_create(&created, nil, runThread, box.toOpaque())
    guard let created else {
      box.release()
      throw OriginError(operation: "pthread_create", code: code)
    }
    handle = created
    #endif
    guard code == 0 else {
      box.release()
      throw OriginError(operation: "pthread_create", code: code)
    }
  }

  func join() { pthread_join(handle, nil) }
}

private final class ThreadBody: Sendable {
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

#if canImport(Glibc)
private func runThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  if let context { Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run() }
  return nil
}
#else
private func runThread(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
  Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run()
  return nil
}
#endif
