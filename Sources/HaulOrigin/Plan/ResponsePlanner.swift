// SPDX-License-Identifier: Apache-2.0

/// Decides the answer to one request. Pure: `now` (seconds since 1970) is only what Date shows.
enum ResponsePlanner {
  static func plan(
    _ request: RequestHead, for resource: OriginResource?, faults: [Fault], now: Int
  ) -> ResponsePlan {
    let keepsAlive = request.keepsAlive && !request.hasBody
    guard var resource else { return ResponsePlan(status: 404, keepsAlive: keepsAlive).dated(now) }
    var request = request
    for fault in faults { fault.prepare(&request, &resource) }
    var plan = answer(request, resource, keepsAlive: keepsAlive).dated(now)
    plan.content = resource.content
    plan.delay = resource.firstByteDelay
    if let gate = resource.gate { plan.add(.gate(gate.name), at: gate.position) }
    for fault in faults { fault.deform(&plan, length: resource.content.length) }
    if plan.headers["Date"] == nil, !faults.contains(where: \.removesDate) { plan = plan.dated(now) }
    if request.method == "HEAD" || plan.status == 304 { plan.segments = [] }
    return plan
  }

  private static func answer(
    _ request: RequestHead, _ resource: OriginResource, keepsAlive: Bool
  ) -> ResponsePlan {
    guard request.method == "GET" || request.method == "HEAD" else {
      var plan = ResponsePlan(status: 405, keepsAlive: keepsAlive)
      plan.headers.set("Allow", "GET, HEAD")
      return plan
    }
    if let redirect = resource.redirect {
      var plan = ResponsePlan(status: redirect.status, keepsAlive: keepsAlive)
      plan.headers.set("Location", redirect.location)
      plan.headers += resource.extraHeaders
      return plan
    }
    if resource.honoursConditions {
      let outcome = Preconditions.judge(
        request.fields, etag: resource.etag, lastModified: resource.lastModified)
      if outcome == .failed { return ResponsePlan(status: 412, keepsAlive: keepsAlive) }
      if outcome == .notModified {
        var plan = ResponsePlan(status: 304, keepsAlive: keepsAlive)
        plan.headers = validators(resource)
        return plan
      }
    }
    return representation(request, resource, keepsAlive: keepsAlive)
  }

  private static func representation(
    _ request: RequestHead, _ resource: OriginResource, keepsAlive: Bool
  ) -> ResponsePlan {
    let length = resource.content.length
    var plan = ResponsePlan(status: 200, keepsAlive: keepsAlive)
    plan.framing = resource.framing
    plan.headers = [HeaderField("Content-Type", resource.contentType)] + validators(resource)
    if let value = resource.contentDisposition { plan.headers.set("Content-Disposition", value) }
    if let value = resource.reprDigest { plan.headers.set("Repr-Digest", value) }
    if resource.supportsRanges { plan.headers.set("Accept-Ranges", "bytes") }
    plan.headers += resource.extraHeaders
    guard let asked = effectiveRange(request, resource) else {
      plan.segments = [.content(0..<length)]
      plan.showLength()
      return plan
    }
    guard let range = asked.resolved(length: length) else {
      plan = ResponsePlan(status: 416, keepsAlive: keepsAlive)
      plan.headers.set("Content-Range", "bytes */\(length)")
      return plan
    }
    plan.status = 206
    plan.answer(range, of: length)
    return plan
  }

  /// The range to serve, after If-Range and the resource's own willingness. HEAD has none (RFC 9110 14.2).
  private static func effectiveRange(_ request: RequestHead, _ resource: OriginResource) -> RangeRequest? {
    guard request.method == "GET", resource.supportsRanges, let asked = request.range else { return nil }
    if resource.honoursConditions, let condition = request.fields["If-Range"],
      !Preconditions.ifRangeHolds(condition, etag: resource.etag, lastModified: resource.lastModified)
    {
      return nil
    }
    return asked
  }

  private static func validators(_ resource: OriginResource) -> [HeaderField] {
    var fields: [HeaderField] = []
    if let etag = resource.etag { fields.append(HeaderField("ETag", etag)) }
    if let date = resource.lastModified { fields.append(HeaderField("Last-Modified", date)) }
    return fields
  }
}

extension ResponsePlan {
  func dated(_ now: Int) -> ResponsePlan {
    var plan = self
    if plan.headers["Date"] == nil { plan.headers.insert(HeaderField("Date", HTTPDate.text(now)), at: 0) }
    return plan
  }
}

extension Fault {
  fileprivate var removesDate: Bool {
    if case .header(let name, nil) = self { name.lowercased() == "date" } else { false }
  }
}
