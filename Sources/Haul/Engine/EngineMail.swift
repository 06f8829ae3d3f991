// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDigest
internal import HaulDisk
internal import HaulPlatform
internal import HaulTransport

/// What other threads tell a download's driver.
enum DriverEvent: Sendable {
  /// The output is a FIFO, which opens as soon as somebody reads from it.
  case awaitsReader
  case opened(Result<OpenedOutput, DownloadError>)
  /// A partial file of another program was read.
  case surveyed(Result<Adoption, DownloadError>)
  /// The file has its length and its space; bytes may be written.
  case begun(Result<Void, DiskError>)
  /// The writer has given buffers back while the driver was short of them.
  case roomAvailable
  case writeFailed(DiskError)
  /// The disk has no room for these bytes, and the download is to wait for it. The buffer comes back unwritten.
  case noRoom(DiskError, Buffer, BodyCheck?, PoolAccount)
  /// The disk had room for the buffer with which that was tried.
  case roomFound
  case committed(Result<Void, DiskError>)
  /// Everything that was submitted to the writer before is written.
  case drained(barrier: Int)
  /// Everything is thrown away, durably.
  case cleared(Result<Void, DiskError>)
  /// Chunks whose content is not what it was; they are struck out durably.
  case damaged([Int])
  case rescueEnded(Result<Void, DiskError>)
  /// An answer that has come whole does not have its own Content-Digest.
  case bodyDiffers(ByteRange, generation: Int)
  /// These doubted chunks are struck out durably.
  case struck([Int], Result<Void, DiskError>)
  /// A part was read back: its digests, and the error where they are not the wanted ones.
  case proven(DigestSet, otherwise: DownloadError)
  case hashed(HasherOutcome, epoch: Int)
  case streamHashed(DigestSet)
  case finished(Result<Void, DiskError>)
  case stopped(Result<Void, DiskError>)
  case cancel
}

/// The engine's letter box. Any thread posts; the engine's thread takes. At most a few letters a connection and
/// a buffer are under way, so it needs no bound of its own.
final class EngineMail: Sendable {
  enum Letter: Sendable {
    case start(DriverSetup)
    case event(DriverEvent, driver: Int)
    case shutDown
  }

  private let letters = Monitor<[Letter]>([])
  private let wakeUp: WakeUp

  init(wakeUp: WakeUp) { self.wakeUp = wakeUp }

  func post(_ letter: Letter) {
    letters.signal { $0.append(letter) }
    wakeUp.call()
  }

  /// Makes the loop's next wait end at once.
  func wakeUpAgain() { wakeUp.call() }

  func post(_ event: DriverEvent, to driver: Int) { post(.event(event, driver: driver)) }

  /// Waits for at least one letter; for an engine that has no loop to wait in.
  func waitForLetters() -> [Letter] {
    letters.wait { letters in
      if letters.isEmpty { return nil }
      defer { letters = [] }
      return letters
    }
  }

  func takeAll() -> [Letter] {
    letters.withLock { letters in
      defer { letters = [] }
      return letters
    }
  }
}
