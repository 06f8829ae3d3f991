// SPDX-License-Identifier: Apache-2.0

/// The conditions of a request in the order of RFC 9110 section 13.2.2.
enum Preconditions {
  enum Outcome: Equatable {
    case proceed
    case notModified
    case failed
  }

  static func judge(_ fields: [HeaderField], etag: String?, lastModified: String?) -> Outcome {
    let modified = lastModified.flatMap(HTTPDate.seconds)
    if let field = fields["If-Match"] {
      if !lists(field, etag, strongly: true) { return .failed }
    } else if let limit = fields["If-Unmodified-Since"].flatMap(HTTPDate.seconds), let modified {
      if modified > limit { return .failed }
    }
    if let field = fields["If-None-Match"] {
      if lists(field, etag, strongly: false) { return .notModified }
    } else if let limit = fields["If-Modified-Since"].flatMap(HTTPDate.seconds), let modified {
      if modified <= limit { return .notModified }
    }
    return .proceed
  }

  /// Whether a Range next to this If-Range counts (section 13.1.5): equal strong tags, or the exact date.
  static func ifRangeHolds(_ field: String, etag: String?, lastModified: String?) -> Bool {
    if field.hasSuffix("\"") { return lists(field, etag, strongly: true) }
    return field == lastModified
  }

  /// Whether a list of entity tags (or `*`) holds the current one. Tags with commas inside are not supported.
  private static func lists(_ field: String, _ etag: String?, strongly: Bool) -> Bool {
    if field == "*" { return true }
    guard let etag else { return false }
    return field.split(separator: ",").contains { item in
      let tag = item.trimmed
      if strongly { return tag == etag && !tag.hasPrefix("W/") }
      return opaque(tag) == opaque(Substring(etag))
    }
  }

  private static func opaque(_ tag: Substring) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag }
}
