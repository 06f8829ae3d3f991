// SPDX-License-Identifier: Apache-2.0

internal import CCurl
package import HaulCore

/// What the delegate wants done with the body of a response whose head it has judged.
package enum BodyWish: Sendable {
  /// Hand it over.
  case take
  /// Read and forget it, as long as it is small, so that the connection stays usable.
  case discard
  /// End the transfer now. Closes an HTTP/1 connection.
  case stop
}

/// Hears of one transfer's events, always on the thread that runs the ``MultiLoop``.
package protocol TransferDelegate: AnyObject {
  /// A whole head of a final response (1xx are skipped), before the first byte of its body.
  func transfer(_ transfer: Transfer, received head: ResponseHead) -> BodyWish
  /// Body bytes, at most 16 KiB, valid during the call. Only after ``BodyWish/take``. False ends the transfer.
  func transfer(_ transfer: Transfer, received bytes: UnsafeRawBufferPointer) -> Bool
  /// The last event of a request. The handle is out of the loop already, so a new request may be started.
  func transfer(_ transfer: Transfer, ended outcome: TransferOutcome)
}

/// One slot for requests, with an easy handle that is used again as long as the origin stays the same. (A handle
/// that goes to another origin would carry state of the first along; libcurl had several such leaks.)
///
/// Lives on the loop's thread. Connections do not belong to it but to the loop's pool.
package final class Transfer {
  package weak var delegate: (any TransferDelegate)?
  /// While true the loop does not look at this transfer's socket: nobody has room for its bytes.
  package var isHeld = false
  package private(set) var isRunning = false

  private(set) var handle: UnsafeMutableRawPointer?
  private var origin: Origin?
  private var headerList: UnsafeMutablePointer<curl_slist>?
  private let errorText: UnsafeMutablePointer<CChar>
  private let options: TransportOptions
  private let receiveBufferBytes: Int

  private enum Stage { case head, taking, discarding(left: Int), refused }
  private var stage = Stage.head
  /// What was wrong with a head that could not even be judged.
  private var problem: TransportFailure?
  /// What tells the end of the body.
  private var bodyEnd = TLSEnd.OfBody.told
  private var head: ResponseHead?

  /// An error page up to this size is read to its end to keep the connection.
  private static let mostDiscarded = 64 * 1024

  package init(options: TransportOptions, receiveBufferBytes: Int) {
    self.options = options
    self.receiveBufferBytes = receiveBufferBytes
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit {
    // The loop keeps a running transfer alive, so the handle is out of it here.
    curl_easy_cleanup(handle)
    curl_slist_free_all(headerList)
    errorText.deallocate()
  }

  // MARK: For the loop

  /// Sets the handle up for a request. Returns nil where libcurl has no memory or refuses an option.
  func arm(_ request: TransferRequest) -> UnsafeMutableRawPointer? {
    if handle == nil || origin != request.url.origin {
      curl_easy_cleanup(handle)
      handle = curl_easy_init()
      origin = request.url.origin
      guard let handle else { return nil }
      setCommonOptions(handle, origin: request.url.origin)
    }
    guard let handle else { return nil }
    errorText[0] = 0
    head = nil
    problem = nil
    bodyEnd = .told
    stage = .head
    isHeld = false
    haul_easy_set_string(handle, CURLOPT_URL, request.url.text)
    haul_easy_set_string(handle, CURLOPT_RANGE, request.range?.httpSpec)
    haul_easy_set_long(handle, CURLOPT_FRESH_CONNECT, request.isFresh ? 1 : 0)
    haul_easy_set_string(handle, CURLOPT_USERNAME, request.credentials?.user)
    haul_easy_set_string(handle, CURLOPT_PASSWORD, request.credentials?.password)
    let old = headerList
    headerList = nil
    // Lists are borrowed by libcurl, so the old one goes only after the new one is set.
    for line in request.headerLines { headerList = curl_slist_append(headerList, line) }
    haul_easy_set_list(handle, CURLOPT_HTTPHEADER, headerList)
    curl_slist_free_all(old)
    isRunning = true
    return handle
  }

  func finish(_ code: CURLcode) -> TransferOutcome {
    isRunning = false
    if let problem { return .failed(problem) }
    if case .refused = stage { return .stopped }
    if code == CURLE_OK {
      if bodyEnd.isWhole { return .finished }
      return .failed(
        TransportFailure(kind: .interrupted, message: "the TLS connection was cut (no close_notify)"))
    }
    var isInHead = false
    if case .head = stage { isInHead = true }
    return .failed(TransportFailure(code: code, detail: String(cString: errorText), isInHead: isInHead))
  }

  func disarm() { isRunning = false }

  /// The address at the other end, for messages and for telling backends apart.
  package var remoteAddress: String {
    var text: UnsafePointer<CChar>?
    haul_easy_get_string(handle, CURLINFO_PRIMARY_IP, &text)
    return text.map { String(cString: $0) } ?? ""
  }

  /// Whether the last request opened a connection of its own.
  package var openedConnection: Bool {
    var count = 0
    haul_easy_get_long(handle, CURLINFO_NUM_CONNECTS, &count)
    return count > 0
  }

  private func setCommonOptions(_ handle: UnsafeMutableRawPointer, origin: Origin) {
    let context = Unmanaged.passUnretained(self).toOpaque()
    haul_easy_set_pointer(handle, CURLOPT_PRIVATE, context)
    haul_easy_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
    haul_easy_set_data(handle, CURLOPT_WRITEFUNCTION, onBody)
    haul_easy_set_pointer(handle, CURLOPT_WRITEDATA, context)
    haul_easy_set_data(handle, CURLOPT_HEADERFUNCTION, onHeaderLine)
    haul_easy_set_pointer(handle, CURLOPT_HEADERDATA, context)
    let longs: [(CURLoption, Int)] = [
      (CURLOPT_NOSIGNAL, 1), (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
      (CURLOPT_FOLLOWLOCATION, 0), (CURLOPT_HTTP_CONTENT_DECODING, 0), (CURLOPT_HTTP_TRANSFER_DECODING, 1),
      (CURLOPT_HTTP09_ALLOWED, 0), (CURLOPT_SUPPRESS_CONNECT_HEADERS, 1), (CURLOPT_UNRESTRICTED_AUTH, 0),
      (CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE)), (CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue)),
      (CURLOPT_SSL_VERIFYPEER, 1), (CURLOPT_SSL_VERIFYHOST, 2),
      (CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)), (CURLOPT_TCP_KEEPALIVE, 1),
      (CURLOPT_TCP_NODELAY, 1), (CURLOPT_FAILONERROR, 0), (CURLOPT_NOPROGRESS, 1),
      (CURLOPT_BUFFERSIZE, receiveBufferBytes), (CURLOPT_MAXAGE_CONN, 15),
      (CURLOPT_CONNECTTIMEOUT_MS, Int(options.connectTimeout * 1000)),
    ]
    for (option, value) in longs { haul_easy_set_long(handle, option, value) }
    haul_easy_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https")
    haul_easy_set_string(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
    haul_easy_set_string(handle, CURLOPT_USERAGENT, options.userAgent)
    // An empty text turns proxies off; nil would let libcurl read the environment by itself.
    haul_easy_set_string(handle, CURLOPT_PROXY, options.proxies.proxy(for: origin) ?? "")
    haul_easy_set_string(handle, CURLOPT_NOPROXY, options.proxies.exceptions ?? "")
    TLSEnd.observe(handle)
    if let caFile = options.caFile { haul_easy_set_string(handle, CURLOPT_CAINFO, caFile) }
  }

  // MARK: For the callbacks

  /// Header lines that come now are trailers, whatever they look like.
  private var isInBody: Bool {
    switch stage {
    case .taking, .discarding: true
    case .head, .refused: false
    }
  }

  fileprivate func received(headerLine line: UnsafeRawBufferPointer) -> Bool {
    if !isInBody, line.starts(with: Array("HTTP/".utf8)) {
      head = ResponseHead(statusLine: line)
      stage = .head
      return head != nil || refuse()
    }
    // After the body has begun these are trailers, which nobody asked for.
    guard case .head = stage else { return true }
    if line.allSatisfy({ $0 == 0x0d || $0 == 0x0a }) { return endOfHead() }
    head?.headers.appendLine(line)
    guard head?.headers.isOverfull == true else { return head != nil || refuse() }
    problem = TransportFailure(
      kind: .overfull,
      message:
        "a header section of more than \(HeaderBlock.mostFields) fields or \(HeaderBlock.mostBytes / 1024) KiB"
    )
    return refuse()
  }

  private func endOfHead() -> Bool {
    guard let complete = head else { return refuse() }
    if (100..<200).contains(complete.status) { return true }
    switch delegate?.transfer(self, received: complete) ?? .stop {
    case .take:
      stage = .taking
      if complete.contentLength == .absent, !complete.isChunked { noteBodyEnd() }
    case .discard: stage = .discarding(left: Self.mostDiscarded)
    case .stop: return refuse()
    }
    return true
  }

  private func noteBodyEnd() {
    guard TLSEnd.isTold, origin?.scheme == "https", let handle else { return }
    bodyEnd = .session(haul_easy_tls_session(handle).map { Int(bitPattern: $0) })
  }

  fileprivate func received(body bytes: UnsafeRawBufferPointer) -> Bool {
    switch stage {
    case .taking:
      return delegate?.transfer(self, received: bytes) == true || refuse()
    case .discarding(let left):
      guard bytes.count <= left else { return refuse() }
      stage = .discarding(left: left - bytes.count)
      return true
    case .head, .refused:
      // A body whose head nobody has judged is never let through.
      return refuse()
    }
  }

  private func refuse() -> Bool {
    stage = .refused
    return false
  }
}

private func onHeaderLine(
  _ data: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let data, let context else { return 0 }
  let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
  let line = UnsafeRawBufferPointer(start: data, count: size * count)
  return transfer.received(headerLine: line) ? size * count : 0
}

private func onBody(
  _ data: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let data, let context else { return 0 }
  if size * count == 0 { return 0 }
  let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
  let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
  return transfer.received(body: bytes) ? size * count : 0
}
