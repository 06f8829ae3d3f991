// SPDX-License-Identifier: Apache-2.0

/// A way to misbehave. To add one: a case here, and its line in `prepare` (what must be known before the
/// answer is planned) or in `deform` (what changes the finished plan), both in Fault+Effect.swift.
///
/// Positions are counted in body bytes of the response, from 0; offsets are counted in the content.
/// A position past the end of the body is never reached.
package enum Fault: Sendable {
  // The connection
  /// Orderly close (FIN) once so many body bytes are sent.
  case closeAfter(Int)
  /// RST once so many body bytes are sent and, where the system tells, acknowledged.
  case resetAfter(Int)
  /// Sends no more after so many body bytes, until the client goes away or the origin stops.
  case stallAfter(Int)
  /// Holds the body at a position until `Origin.openGate(name)`.
  case gate(String, at: Int)
  /// From this position on, the connection has this rate, for its later requests too.
  case slow(bytesPerSecond: Int, after: Int = 0)
  /// Milliseconds of silence before the status line.
  case delay(Int)

  // Another answer
  /// A status with a short text body. `retryAfter` is sent as it is.
  case status(Int, retryAfter: String? = nil)
  case redirect(to: String, status: Int = 302)
  /// These bytes instead of any response, then close.
  case rawResponse([UInt8])
  /// These bytes before the response, such as `HTTP/1.1 103 Early Hints\r\n\r\n`.
  case preamble([UInt8])

  // Ranges
  /// 200 with the whole body.
  case ignoreRange
  /// Conditions are not looked at.
  case ignoreConditions
  /// A 206 of another range, `by` bytes further (or back): Content-Range and body agree with each other.
  case shiftedContentRange(by: Int)
  /// A 206 that begins at the border of a block of so many bytes, at or before what was asked for.
  case blockAligned(Int)
  /// The bytes of another range, `by` bytes further, under the right headers.
  case shiftedBody(by: Int)
  /// A 206 of more bytes than asked for, as far as the content has them; the headers say so.
  case widerRange(before: Int, after: Int)
  /// The values of Content-Range that a 206 gets in place of the right one, made of its range (half open) and
  /// of the length of the content. See Fault+Named.swift for the usual ones.
  case contentRange(@Sendable (Range<Int>, Int) -> [String])
  /// The part that was asked for, called the whole: 200 without Content-Range.
  case partAsWhole
  /// A 206 with at most so many bytes, and headers that say so.
  case shortRange(Int)
  /// One range as multipart/byteranges.
  case multipart

  // Representation
  /// The answer is made from this resource, as if it had been put in place of the other. Its own faults are
  /// not looked at.
  indirect case instead(OriginResource)
  /// Claims gzip; the bytes are sent unchanged.
  case contentEncodingGzip
  /// Another ETag, which conditions are judged by too.
  case changedETag(String)
  /// A strong ETag that no other response has.
  case freshETag
  case missingETag
  case missingLastModified
  /// Sets a response field, or removes it (nil).
  case header(String, String?)
  /// Sets a response field to what is made of the content offsets of the body, such as its digest. Runs with the
  /// origin locked.
  case headerOfBody(String, @Sendable (Range<Int>) -> String)
  /// One more response field, whatever there is under its name.
  case addedHeader(String, String)
  /// Inverted bits in this half-open range of content offsets, under the right headers.
  case wrongBytes(Range<Int>)

  // Framing
  /// So many bytes more than the headers say, then close.
  case extraBytes(Int)
  /// No Content-Length; the close ends the body.
  case noContentLengthClose
  case chunked
  /// HTTP/1.0: no Content-Length, the close ends the body.
  case http10
  /// The values of Content-Length in place of the right one, which is the argument. The body is sent as it
  /// should be; then the connection closes.
  case contentLength(@Sendable (Int) -> [String])
}
