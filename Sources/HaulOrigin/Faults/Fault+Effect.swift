// SPDX-License-Identifier: Apache-2.0

extension Fault {
  /// What must be known before the answer is planned.
  func prepare(_ request: inout RequestHead, _ resource: inout OriginResource) {
    switch self {
    case .instead(let other): resource = other
    case .ignoreRange: request.fields.set("Range", nil)
    case .ignoreConditions: resource.honoursConditions = false
    case .changedETag(let etag): resource.etag = etag
    // Requests are counted one by one, so the count is this answer's own.
    case .freshETag: resource.etag = "\"fresh-\(resource.requestCount)\""
    case .missingETag: resource.etag = nil
    case .missingLastModified: resource.lastModified = nil
    case .noContentLengthClose, .http10: resource.framing = .close
    case .chunked: resource.framing = .chunked
    case .redirect(let location, let status):
      resource.redirect = OriginResource.Redirect(status: status, location: location)
    default: break
    }
  }

  /// What changes the finished plan. `length`: of the content.
  func deform(_ plan: inout ResponsePlan, length: Int) {
    switch self {
    case .closeAfter(let position): plan.add(.close, at: position)
    case .resetAfter(let position): plan.add(.reset, at: position)
    case .stallAfter(let position): plan.add(.stall, at: position)
    case .gate(let name, let position): plan.add(.gate(name), at: position)
    case .slow(let rate, let position): plan.add(.pace(rate), at: position)
    case .delay(let milliseconds): plan.delay += milliseconds
    case .status(let status, let retryAfter):
      plan = ResponsePlan(status: status, retryAfter: retryAfter, keepsAlive: plan.keepsAlive)
    case .rawResponse(let bytes): plan.raw = bytes
    case .preamble(let bytes): plan.preamble += bytes
    case .contentEncodingGzip: plan.headers.set("Content-Encoding", "gzip")
    case .header(let name, let value): plan.headers.set(name, value)
    case .headerOfBody(let name, let make):
      if let range = plan.contentRange { plan.headers.set(name, make(range)) }
    case .addedHeader(let name, let value): plan.headers.append(HeaderField(name, value))
    case .http10: plan.version = "HTTP/1.0"
    case .contentLength(let values):
      plan.headers.replace("Content-Length", with: values(plan.bodyLength))
      plan.keepsAlive = false
    case .wrongBytes(let range): plan.invert(range)
    case .extraBytes(let count):
      let end = plan.contentRange?.upperBound ?? 0
      plan.segments.append(.content(end..<end + max(0, count)))
      plan.keepsAlive = false
    default: deformRange(&plan, length: length)
    }
  }

  /// The part of `deform` that only a 206 can suffer.
  private func deformRange(_ plan: inout ResponsePlan, length: Int) {
    guard plan.status == 206, let range = plan.contentRange else { return }
    switch self {
    case .shiftedContentRange(let distance):
      plan.answer(range.shifted(by: distance), of: length)
    case .blockAligned(let block):
      plan.answer(range.lowerBound / max(1, block) * max(1, block)..<range.upperBound, of: length)
    case .shiftedBody(let distance):
      plan.segments = [.content(range.shifted(by: distance))]
    case .widerRange(let before, let after):
      let start = range.lowerBound - min(before, range.lowerBound)
      plan.answer(start..<range.upperBound + min(after, length - range.upperBound), of: length)
    case .contentRange(let values):
      plan.headers.replace("Content-Range", with: values(range, length))
    case .partAsWhole:
      plan.status = 200
      plan.headers.set("Content-Range", nil)
    case .shortRange(let count):
      plan.answer(range.lowerBound..<range.lowerBound + max(1, min(count, range.count)), of: length)
    case .multipart:
      plan.wrapAsMultipart(range, of: length)
    default: break
    }
  }
}

extension Range<Int> {
  fileprivate func shifted(by distance: Int) -> Range<Int> {
    let start = Swift.max(0, lowerBound + distance)
    return start..<start + count
  }
}
