// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// The repository's Swift and C files, read as text.
enum SourceTree {
  struct File: Sendable, CustomStringConvertible {
    /// From the repository's root.
    let path: String
    let lines: [Substring]

    var description: String { path }
    /// The target that it belongs to: the folder under Sources or Tests.
    var target: String { String(path.split(separator: "/")[1]) }
    var isSwift: Bool { path.hasSuffix(".swift") }

    /// Lines with comments and the contents of one-line strings taken out, so that words in them do not count.
    var code: [String] { lines.map(Self.stripped) }

    /// Modules that it imports.
    var imports: [String] {
      code.compactMap { line in
        let words = line.split(separator: " ")
        guard let index = words.firstIndex(of: "import"), index + 1 < words.count,
          words[..<index].allSatisfy({ Self.importModifiers.contains(String($0)) })
        else { return nil }
        return words[(index + 1)...].first { !Self.importKinds.contains(String($0)) }
          .map { String($0.prefix { $0 != "." }) }
      }
    }

    private static let importModifiers: Set = [
      "public", "package", "internal", "fileprivate", "private", "@testable", "@preconcurrency", "@_exported",
    ]
    private static let importKinds: Set = [
      "struct", "class", "enum", "protocol", "func", "var", "let", "typealias",
    ]

    private static func stripped(_ line: Substring) -> String {
      var result = ""
      var inString = false
      var previous: Character = " "
      for character in line {
        if character == "\"", previous != "\\" {
          inString.toggle()
        } else if !inString {
          if character == "/", previous == "/" { return String(result.dropLast()) }
          result.append(character)
        }
        previous = character
      }
      return result
    }
  }

  static let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

  /// Every file under Sources and Tests.
  static let files: [File] = ["Sources", "Tests"].flatMap { files(under: $0) }

  static let sources = files.filter { $0.path.hasPrefix("Sources/") }

  private static func files(under path: String) -> [File] {
    Files.names(in: "\(root)/\(path)").flatMap { name -> [File] in
      let child = "\(path)/\(name)"
      guard [".swift", ".c", ".h"].contains(where: name.hasSuffix) else {
        return name.contains(".") ? [] : files(under: child)
      }
      guard let text = try? Files.text(of: "\(root)/\(child)") else { return [] }
      return [File(path: child, lines: text.split(separator: "\n", omittingEmptySubsequences: false))]
    }
  }
}
