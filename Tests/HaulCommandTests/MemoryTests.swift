// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

/// The most memory that the command has at any time, as the kernel counts it for its address space. Not from
/// wait4: that includes what the parent had before exec.
@Suite(.timeLimit(.minutes(10)), .enabled(if: Files.exists("/proc/self/status"), "needs Linux's /proc"))
struct MemoryTests {
  @Test("16 connections and 1 GiB stay below 64 MiB")
  func peak() throws {
    let length = 1 << 30
    let arena = try Arena([
      "/f": .reference(
        seed: 9, length: length, faults: [Fault.gate("end", at: 0).on(.rangeContains(length - 1))])
    ])
    let process = try arena.start("/f", "-c", "16", "--no-sync")
    let nearlyAll = arena.origin.waitUntil(timeout: .seconds(90)) {
      $0.bodyBytesSent() >= length - 64 << 20 && $0.requests.contains { $0.heldAt != nil }
    }
    #expect(nearlyAll)
    let status = try Files.text(of: "/proc/\(process.pid)/status")
    arena.origin.openGate("end")
    #expect(process.wait().end == .exit(0))
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    let kibibytes = try #require(line.split(separator: " ").dropLast().last.flatMap { Int($0) })
    print("peak of 16 connections and 1 GiB: \(kibibytes / 1024) MiB")
    #expect(kibibytes < 64 << 10)
  }
}
