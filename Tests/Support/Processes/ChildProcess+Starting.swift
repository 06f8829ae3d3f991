// SPDX-License-Identifier: Apache-2.0

internal import CPlatform
internal import CTestSupport

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension ChildProcess {
  /// Where a process's output goes.
  package enum Output: Sendable {
    /// Standard output and standard error apart.
    case pipes
    /// Both to one terminal of this many columns.
    case terminal(columns: Int)
  }

  /// Starts a program in a process group of its own, with nothing on standard input.
  ///
  /// - Parameters:
  ///   - environment: all of it; nothing is inherited.
  ///   - directory: where it runs, or nil for where we do.
  ///   - lifetime: seconds after which it is killed.
  package static func start(
    _ executable: String, _ arguments: [String], environment: [String: String] = [:],
    directory: String? = nil,
    output: Output = .pipes, lifetime: Double = 100
  ) throws(SpawnError) -> ChildProcess {
    let channel = try Channel(output)
    defer { channel.closeTheirs() }
    var actions = FileActions()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, channel.theirs[0], STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, channel.theirs[channel.theirs.count - 1], STDERR_FILENO)

    var attributes = SpawnAttributes()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // Own group: a Ctrl-C at the test's terminal is not the child's. Own mask: ours may block what it waits for.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP) | Int16(POSIX_SPAWN_SETSIGMASK))

    // `env -C` is not everywhere, and a call for it in posix_spawn neither: a shell is.
    let command = directory.map {
      ["/bin/sh", "-c", "cd \"$1\" && shift && exec \"$@\"", "sh", $0, executable]
    }
    let words = (command ?? [executable]) + arguments
    var argv = words.map { strdup($0) } + [nil]
    var envp = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in argv + envp { free(text) } }
    var pid: pid_t = 0
    let code = posix_spawn(&pid, words[0], &actions, &attributes, &argv, &envp)
    guard code == 0 else {
      channel.closeOurs()
      throw SpawnError(description: "\(words[0]) could not be started: \(String(cString: strerror(code)))")
    }
    return ChildProcess(pid: pid, streams: channel.ours, lifetime: lifetime)
  }

  /// Runs a program to its end.
  package static func run(
    _ executable: String, _ arguments: [String], environment: [String: String] = [:], directory: String? = nil
  ) throws(SpawnError) -> Ended {
    try start(executable, arguments, environment: environment, directory: directory).wait()
  }
}

#if canImport(Glibc)
private typealias FileActions = posix_spawn_file_actions_t
private typealias SpawnAttributes = posix_spawnattr_t
#else
private typealias FileActions = posix_spawn_file_actions_t?
private typealias SpawnAttributes = posix_spawnattr_t?
#endif

/// The descriptors between us and a child, all of them close-on-exec: another child that is started at the same
/// time must not hold them open.
private struct Channel {
  let ours: [Int32]
  let theirs: [Int32]

  init(_ output: ChildProcess.Output) throws(SpawnError) {
    switch output {
    case .pipes:
      var (first, second): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
      guard haul_pipe(&first) == 0, haul_pipe(&second) == 0 else {
        throw SpawnError(description: "no pipe: \(String(cString: strerror(errno)))")
      }
      ours = [first[0], second[0]]
      theirs = [first[1], second[1]]
    case .terminal(let columns):
      var ends: [Int32] = [-1, -1]
      let code = haul_test_terminal(&ends, Int32(columns))
      guard code == 0 else {
        throw SpawnError(description: "no terminal: \(String(cString: strerror(code)))")
      }
      ours = [ends[0]]
      theirs = [ends[1]]
    }
  }

  func closeOurs() { for descriptor in ours { close(descriptor) } }

  func closeTheirs() { for descriptor in theirs { close(descriptor) } }
}
