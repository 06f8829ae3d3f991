// SPDX-License-Identifier: Apache-2.0

/// A JSON document (RFC 8259) on its way out. Pure.
///
/// Everything that could act on a terminal is escaped in texts, so that it may be shown on one.
enum JSONValue {
  case null
  case bool(Bool)
  case number(Int)
  case text(String)
  case list([JSONValue])
  case object([(String, JSONValue)])

  static func optional(_ text: String?) -> JSONValue { text.map(JSONValue.text) ?? .null }
  static func optional(_ number: Int?) -> JSONValue { number.map(JSONValue.number) ?? .null }

  /// Members on lines of their own; lists of numbers on one line.
  var lines: String { written(indent: "") }

  private func written(indent: String) -> String {
    let inner = indent + "  "
    switch self {
    case .null: return "null"
    case .bool(let value): return value ? "true" : "false"
    case .number(let value): return "\(value)"
    case .text(let text): return Self.quoted(text)
    case .list(let items) where items.allSatisfy(\.isFlat):
      return "[" + items.map { $0.written(indent: "") }.joined(separator: ", ") + "]"
    case .list(let items):
      return "[\n" + items.map { inner + $0.written(indent: inner) }.joined(separator: ",\n") + "\n\(indent)]"
    case .object(let members):
      let written = members.map { inner + Self.quoted($0.0) + ": " + $0.1.written(indent: inner) }
      return "{\n" + written.joined(separator: ",\n") + "\n\(indent)}"
    }
  }

  private var isFlat: Bool {
    switch self {
    case .object: false
    case .list(let items): items.allSatisfy(\.isFlat)
    default: true
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      default:
        // What a terminal would act on is in the basic plane, so four digits do.
        if TerminalSafe.escaped(String(scalar)) == String(scalar) {
          result.unicodeScalars.append(scalar)
        } else {
          let digits = String(scalar.value, radix: 16)
          result += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }
      }
    }
    return result + "\""
  }
}
