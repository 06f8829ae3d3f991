// SPDX-License-Identifier: Apache-2.0

import HaulCore

/// A response with these fields.
func response(_ status: Int, _ fields: [(String, String)] = [], minor: Int = 1) -> ResponseHead {
  var headers = HeaderBlock()
  for (name, value) in fields { headers.append(name: name, value: value) }
  return ResponseHead(status: status, minorVersion: minor, headers: headers)
}

/// A 206 for `range` with what every good server says.
func part(_ range: ByteRange, of total: Int, _ more: [(String, String)] = [("ETag", "\"a\"")]) -> ResponseHead
{
  response(
    206,
    [("Content-Range", "bytes \(range.httpSpec)/\(total)"), ("Content-Length", "\(range.count)")] + more)
}
