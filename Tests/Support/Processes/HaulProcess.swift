// SPDX-License-Identifier: Apache-2.0

/// The command as it was built beside these tests.
package enum HaulProcess {
  /// The build folder holds the test bundle and the command side by side, wherever it lies.
  package static let path: String = {
    let bundle = CommandLine.arguments.first { $0.contains(".xctest") } ?? CommandLine.arguments[0]
    let components = bundle.split(separator: "/", omittingEmptySubsequences: false)
    let end = components.firstIndex { $0.hasSuffix(".xctest") } ?? components.count - 1
    return components[..<end].joined(separator: "/") + "/haul"
  }()

  /// A small environment that is the same everywhere: no proxies, UTF-8.
  package static let environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"]

  package static func start(
    _ arguments: [String], environment: [String: String] = environment, in directory: String? = nil,
    output: ChildProcess.Output = .pipes
  ) throws(SpawnError) -> ChildProcess {
    try ChildProcess.start(path, arguments, environment: environment, directory: directory, output: output)
  }

  package static func run(
    _ arguments: [String], environment: [String: String] = environment, in directory: String? = nil
  ) throws(SpawnError) -> ChildProcess.Ended {
    try start(arguments, environment: environment, in: directory).wait()
  }
}
