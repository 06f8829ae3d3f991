// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
package import HaulDisk
internal import HaulTransport
private import Synchronization

/// Fetches files. All its downloads share one engine thread, one pool of buffers, and what is learned about
/// servers. Keep one for the life of a program.
public final class Downloader: Sendable {
  /// What its downloads share.
  public struct Configuration: Sendable {
    /// The bound on memory for bytes under way, in bytes, at least 1 MiB.
    public var bufferBytes = 32 << 20
    /// Environment variables to read proxies from (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`). A
    /// library takes nothing from the environment by itself.
    public var environment: [String: String] = [:]

    /// The defaults.
    public init() {}
  }

  private let share: EngineShare
  private let proxies: ProxySettings
  private let nextID = Atomic<Int>(1)

  /// Starts the engine's thread.
  ///
  /// - Throws: ``DownloadError/Code/other`` where the system has no descriptors left.
  public convenience init(_ configuration: Configuration = Configuration()) throws(DownloadError) {
    try self.init(configuration, disk: SystemDisk())
  }

  /// With another table of disk operations, for tests.
  package init(_ configuration: Configuration, disk: any DiskOperations) throws(DownloadError) {
    guard let wakeUp = WakeUp() else {
      throw DownloadError(
        .other, "the engine could not be started: no file descriptors are left",
        advice: "raise the limit (ulimit -n)")
    }
    share = EngineShare(
      mail: EngineMail(wakeUp: wakeUp), pool: BufferPool(capacity: max(1 << 20, configuration.bufferBytes)),
      disk: disk)
    proxies = ProxySettings(environment: configuration.environment)
    Engine.start(share: share, wakeUp: wakeUp)
  }

  /// Interrupts what is under way; the thread ends when that is kept.
  deinit { share.mail.post(.shutDown) }

  /// Starts a download. Returns at once; the result tells everything, a request that makes no sense included.
  public func start(_ request: DownloadRequest) -> Download {
    let id = nextID.add(1, ordering: .relaxed).oldValue
    let mail = share.mail
    let download = Download { mail.post(.cancel, to: id) }
    do throws(DownloadError) {
      let plan = try DownloadPlan(request)
      if let wanted = plan.wanted, !wanted.isStrong {
        download.notice(.weakChecksum(.init(wanted.algorithm)))
      }
      if let (unsafe, name) = plan.renaming { download.notice(.renamed(from: unsafe, to: name)) }
      mail.post(
        .start(
          DriverSetup(
            id: id, plan: plan, download: download, lane: share.lanes.lane(for: plan.directory),
            proxies: proxies)))
    } catch {
      download.end(.failure(error))
    }
    return download
  }
}
