// SPDX-License-Identifier: Apache-2.0

internal import HaulPlatform

/// One download under way. Any thread or task may use it.
public final class Download: Sendable {
  private struct State {
    var progress = DownloadProgress()
    var notices: [DownloadNotice] = []
    var outcome: Result<DownloadResult, DownloadError>?
    var waiting: [CheckedContinuation<Result<DownloadResult, DownloadError>, Never>] = []
  }

  private let state = Monitor(State())
  private let onCancel: @Sendable () -> Void

  init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

  /// How far it is now.
  public var progress: DownloadProgress { state.withLock { $0.progress } }

  /// Stops it: leases end, what has come is made durable, and the result is ``DownloadError/Code/interrupted``.
  /// Returns at once; calling it again changes nothing.
  public func cancel() { onCancel() }

  /// Waits for the end. Returns after everything is flushed and closed. When the waiting task is cancelled the
  /// download is cancelled too, and this still returns only at its end.
  public func result() async throws(DownloadError) -> DownloadResult {
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let known = state.withLock { state -> Result<DownloadResult, DownloadError>? in
          if state.outcome == nil { state.waiting.append(continuation) }
          return state.outcome
        }
        if let known { continuation.resume(returning: known) }
      }
    } onCancel: {
      onCancel()
    }
    return try outcome.get()
  }

  /// The outcome if it is there already.
  public var outcome: Result<DownloadResult, DownloadError>? { state.withLock { $0.outcome } }

  /// Remarks that have come up since the last call, in order: what a person should know beside the progress.
  public func takeNotices() -> [DownloadNotice] {
    state.withLock { state in
      defer { state.notices = [] }
      return state.notices
    }
  }

  // MARK: For the engine

  func update(_ change: (inout DownloadProgress) -> Void) { state.signal { change(&$0.progress) } }

  func notice(_ notice: DownloadNotice) { state.signal { $0.notices.append(notice) } }

  func end(_ outcome: Result<DownloadResult, DownloadError>) {
    let waiting = state.signal { state in
      // The first outcome is the one that was told.
      guard state.outcome == nil else {
        return [CheckedContinuation<Result<DownloadResult, DownloadError>, Never>]()
      }
      state.outcome = outcome
      state.progress.phase = .ended
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume(returning: outcome) }
  }

  /// Blocks the calling thread until the progress satisfies `condition` or the download has ended. For tests.
  package func waitUntil(_ condition: (DownloadProgress) -> Bool) {
    state.wait { $0.outcome != nil || condition($0.progress) ? () : nil }
  }
}

/// A remark during a download.
public enum DownloadNotice: Sendable, Equatable {
  /// The server gives no validator and no digest is known: an interrupted download starts over.
  case cannotResume(why: String)
  /// What is told as durable may not be: the folder is in memory, or on a filesystem of which that is not known.
  case doubtfulDisk(why: String)
  /// The bytes go in order to something that is not a regular file.
  case streaming(to: String)
  /// The output is a FIFO that nobody reads from yet.
  case waitingForReader(of: String)
  /// The disk has no room for the bytes that came; nothing is lost, and the download waits.
  case waitingForRoom(why: String)
  /// It has room again, and the download goes on.
  case foundRoom
  /// Bytes of an earlier run are used: the server has confirmed that it is the same file.
  case resuming(bytes: Int)
  /// The bytes of an earlier run came from `source`; so many of its chunks were fetched again from the present
  /// one and are equal.
  case continuingFromOtherSource(source: String, comparedChunks: Int)
  /// Another program's partial file is read, which takes as long as its disk needs.
  case reading(path: String)
  /// So many chunks of another program's partial file are taken over; a sample of them was fetched and is equal.
  case adopting(chunks: Int, comparedChunks: Int)
  /// Bytes of an earlier run were not usable.
  case discarding(bytes: Int, why: String)
  /// Everything is fetched again.
  case startingOver(why: String)
  /// An answer of so many bytes did not have its own Content-Digest, and they are fetched again.
  case wrongAnswer(bytes: Int)
  /// The digest that was given is one that can be forged.
  case weakChecksum(Checksum.Algorithm)
  /// No digest was given now, but one was to the run that began the file: it still has to match.
  case keepingDigest(Checksum)
  /// The file was begun for this digest; the one that is given now counts instead.
  case replacingDigest(of: Checksum)
  /// The file was begun for this digest, which nobody looks at now.
  case droppingDigest(Checksum)
  /// The name that the URL or the server gives is not one for a file here.
  case renamed(from: String, to: String)
  /// The server writes a header field in a form that HTTP does not know; it was read as it was meant.
  case oddForm(field: String, value: String)
  /// Chunks on the disk did not have their sums and are fetched again.
  case damagedChunks(count: Int)
}
