// SPDX-License-Identifier: Apache-2.0

import Testing

/// What every file keeps to.
struct HouseRuleTests {
  /// Longer files have more than one job.
  private static let mostLines = 500
  /// How far above its use the reason for an unchecked promise may end.
  private static let reasonDistance = 12

  /// Files in which a line of code contains one of `texts`, as "path:line".
  private func places(of texts: [String], in files: [SourceTree.File] = SourceTree.files) -> [String] {
    files.flatMap { file in
      file.code.enumerated().filter { _, line in texts.contains { line.contains($0) } }
        .map { "\(file):\($0.offset + 1)" }
    }
  }

  @Test("every file says its licence in its first line")
  func license() {
    for file in SourceTree.files {
      let first = file.lines.first ?? ""
      // The manifest of a package has to begin with its tools version; there is none under these folders.
      #expect(first == "// SPDX-License-Identifier: Apache-2.0", "\(file): \(first)")
    }
  }

  @Test("no file is longer than it should be")
  func length() {
    for file in SourceTree.files { #expect(file.lines.count <= Self.mostLines + 1, "\(file)") }
  }

  @Test("nothing traps on what a caller, a server or a disk can cause")
  func noTraps() {
    #expect(places(of: ["try!"]) == [])
    #expect(places(of: ["fatalError(", " as! "], in: SourceTree.sources) == [])
  }

  @Test("an unchecked promise to the compiler has its reason above it")
  func reasons() {
    for file in SourceTree.files where file.isSwift {
      for (index, line) in file.code.enumerated() {
        guard ["@unchecked Sendable", "nonisolated(unsafe)", "@unsafe"].contains(where: line.contains) else {
          continue
        }
        let above = file.lines[max(0, index - Self.reasonDistance)..<index]
        let hasReason = above.contains { line in
          ["because", "Sendable", "Unchecked", "unsafe", "only"].contains {
            line.contains("//") && line.contains($0)
          }
        }
        #expect(hasReason, "\(file):\(index + 1)")
      }
    }
  }

  @Test("tests wait for events, never for time")
  func noSleeps() {
    let sleeps = ["sleep(", "Task.sleep", ".sleep(for", ".sleep(until", "usleep", "nanosleep"]
    let tests = SourceTree.files.filter { $0.path.hasPrefix("Tests/") }
    #expect(places(of: sleeps, in: tests) == [])
  }

  @Test("no machine's paths are in the code")
  func noMachinePaths() {
    for file in SourceTree.files {
      for (index, line) in file.lines.enumerated() {
        #expect(!line.contains("/" + "home/") && !line.contains("/" + "Users/"), "\(file):\(index + 1)")
      }
    }
  }
}
