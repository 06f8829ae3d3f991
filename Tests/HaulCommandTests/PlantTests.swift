// SPDX-License-Identifier: Apache-2.0

import HaulOrigin
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What another user of a shared folder may put at the names that Haul is going to use.
@Suite(.timeLimit(.minutes(10)))
struct PlantTests {
  enum Plant: String, CaseIterable { case symlink, dangling, hardlink, fifo, directory }

  private static let length = 6_000_000
  private let content = ReferenceContent(seed: 1, length: length)
  private let resource = OriginResource.reference(seed: 1, length: length)

  /// The first run gets 1.5 MB and then nothing.
  private let cutResource = OriginResource.reference(
    seed: 1, length: length,
    faults: [Fault.closeAfter(1_500_000).on(.nth(1)), Fault.resetAfter(0).on(.nth(2))])

  /// A folder, and a file outside of it that nothing may touch.
  private final class Scene {
    let arena: Arena
    let outside: TemporaryDirectory
    var victim: String { outside.path(of: "victim") }

    init(_ resource: OriginResource) throws {
      arena = try Arena(["/f": resource])
      outside = try TemporaryDirectory()
      try Files.write("mine", to: victim)
    }

    func plant(_ what: Plant, at name: String) {
      let path = arena.folder.path(of: name)
      let code =
        switch what {
        case .symlink: symlink(victim, path)
        case .dangling: symlink(outside.path(of: "nothing"), path)
        case .hardlink: link(victim, path)
        case .fifo: mkfifo(path, 0o600)
        case .directory: mkdir(path, 0o700)
        }
      #expect(code == 0)
    }

    /// Whether what is outside is as it was.
    var isUntouched: Bool {
      (try? Files.text(of: victim)) == "mine" && Files.names(in: outside.path) == ["victim"]
    }
  }

  private static let rows = ["f", "f.haul-part", "f.haul"].flatMap { name in
    Plant.allCases.map { (name, $0) }
  }

  @Test("16: whatever stands at one of the three names is left alone", arguments: rows)
  func planted(name: String, what: Plant) throws {
    let scene = try Scene(resource)
    scene.plant(what, at: name)
    let ended = try scene.arena.run("/f")
    #expect(ended.end == .exit(16), "\(ended.errors)")
    #expect(ended.errors.contains(scene.arena.folder.path(of: name)), "\(ended.errors)")
    #expect(scene.isUntouched && scene.arena.names == [name])
    #expect(scene.arena.origin.requests().isEmpty)
  }

  @Test("--overwrite replaces a link itself, and never a FIFO or a folder", arguments: Plant.allCases)
  func overwritten(what: Plant) throws {
    let scene = try Scene(resource)
    scene.plant(what, at: "f")
    let ended = try scene.arena.run("/f", "--overwrite")
    if what == .fifo || what == .directory {
      #expect(ended.end == .exit(16) && !ended.errors.contains("--overwrite"), "\(ended.errors)")
    } else {
      #expect(ended.end == .exit(0), "\(ended.errors)")
      var status = stat()
      #expect(lstat(scene.arena.folder.path(of: "f"), &status) == 0 && status.st_mode & S_IFMT == S_IFREG)
      #expect(try scene.arena.holds("f", content))
    }
    #expect(scene.isUntouched && scene.arena.names == ["f"])
  }

  @Test(
    "a link in place of the part, put there while a retry waits, is not followed", arguments: Plant.allCases)
  func swappedPart(what: Plant) throws {
    let scene = try Scene(
      .reference(
        seed: 1, length: Self.length,
        faults: [Fault.closeAfter(1_500_000).on(.nth(1)), Fault.gate("swap", at: 0).on(.sinceNth(2))]))
    let process = try scene.arena.start("/f", "-c", "1")
    #expect(scene.arena.waitUntilHeld(1))
    #expect(rename(scene.arena.folder.path(of: "f.haul-part"), scene.outside.path(of: "moved")) == 0)
    scene.plant(what, at: "f.haul-part")
    scene.arena.origin.openGate("swap")
    let ended = process.wait()
    #expect(ended.end == .exit(14) && ended.errors.contains("renamed or removed"), "\(ended.errors)")
    #expect(try Files.text(of: scene.victim) == "mine")
    #expect(Files.names(in: scene.outside.path) == ["moved", "victim"])
    #expect(!scene.arena.names.contains("f"))
  }

  @Test(
    "a link that appears at the final or the manifest's name is not followed", arguments: ["f", "f.haul"],
    Plant.allCases)
  func appearing(name: String, what: Plant) throws {
    let scene = try Scene(resource.gated(at: 1_500_000))
    let process = try scene.arena.start("/f", "-c", "1")
    #expect(scene.arena.waitUntilHeld(1))
    // The first commit may have been here already; then this name is taken by our own manifest.
    if name == "f.haul", scene.arena.names.contains(name) { unlink(scene.arena.folder.path(of: name)) }
    scene.plant(what, at: name)
    scene.arena.origin.openGate("gate")
    let ended = process.wait()
    #expect(scene.isUntouched)
    if name == "f" { #expect(ended.end == .exit(16), "\(ended.errors)") }
    // A short download is done before its first commit: then nothing has looked at the manifest's name.
    if name == "f.haul", ended.end == .exit(0) { #expect(try scene.arena.holds("f", content)) }
    #expect(scene.arena.names.contains(name))
  }

  @Test(
    "16: of a part or a manifest that others may write to, nothing is believed",
    arguments: ["f.haul-part", "f.haul"])
  func writableByOthers(name: String) throws {
    let scene = try Scene(cutResource)
    #expect(try scene.arena.run("/f", "-c", "1", "--retries", "0").end == .exit(10))
    #expect(scene.arena.names == ["f.haul", "f.haul-part"])
    let path = scene.arena.folder.path(of: name)
    #expect(chmod(path, 0o666) == 0)
    for _ in 0..<2 {
      let ended = try scene.arena.run("/f")
      #expect(
        ended.end == .exit(16) && ended.errors.contains("\(path): others may write to it"), "\(ended.errors)")
    }
    #expect(chmod(path, 0o600) == 0)
    let ended = try scene.arena.run("/f")
    #expect(ended.end == .exit(0) && ended.errors.contains("going on"), "\(ended.errors)")
    #expect(try scene.arena.holds("f", content))
  }

  @Test("16: of two URLs with one name the second is refused, and the first file stays")
  func oneName() throws {
    let arena = try Arena(["/a/f": resource, "/b/f": .reference(seed: 2, length: 10)])
    let ended = try HaulProcess.run(
      [arena.origin.url("/a/f"), arena.origin.url("/b/f"), "-d", arena.folder.path])
    #expect(ended.end == .exit(16) && ended.errors.contains("exists"), "\(ended.errors)")
    #expect(try arena.holds("f", content))
    #expect(arena.names == ["f"])
  }

  @Test("what is fetched is its owner's alone until it is complete, whatever the umask")
  func umask() throws {
    let arena = try Arena(["/f": cutResource])
    _ = try ChildProcess.run(
      "/bin/sh",
      ["-c", "umask 000; exec \"$@\"", "sh", HaulProcess.path]
        + arena.arguments("/f", ["-c", "1", "--retries", "0"]),
      environment: HaulProcess.environment)
    for name in ["f.haul", "f.haul-part"] {
      var status = stat()
      #expect(lstat(arena.folder.path(of: name), &status) == 0 && status.st_mode & 0o777 == 0o600)
    }
  }

  @Test(
    "14: a folder in which nobody creates files is named, with a reason",
    .enabled(if: Files.exists("/proc/self")))
  func noFiles() throws {
    let arena = try Arena(["/f": resource])
    let ended = try HaulProcess.run([arena.origin.url("/f"), "-d", "/proc"])
    #expect(ended.end == .exit(14), "\(ended.errors)")
    #expect(ended.errors.contains("/proc/f.haul-part: its filesystem takes no new files"), "\(ended.errors)")
    #expect(ended.errors.contains("choose a folder"))
  }

  @Test(
    "1: a summary that cannot be written is said, and the file stays", .enabled(if: Files.exists("/dev/full"))
  )
  func lostSummary() throws {
    let arena = try Arena(["/f": resource])
    let ended = try ChildProcess.run(
      "/bin/sh", ["-c", "exec \"$@\" > /dev/full", "sh", HaulProcess.path] + arena.arguments("/f", []),
      environment: HaulProcess.environment)
    #expect(ended.end == .exit(1) && ended.errors.contains("No space left"), "\(ended.errors)")
    #expect(try arena.holds("f", content))
  }
}
