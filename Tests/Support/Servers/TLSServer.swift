// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A server on 127.0.0.1 that speaks TLS and answers every request with the same bytes; by Python's ssl module,
/// which can also leave a connection without a goodbye.
package final class TLSServer: Sendable {
  package static let program = ["/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"]
    .first(
      where: Files.isExecutable)
  package static var isAvailable: Bool { program != nil && CertificateAuthority.isAvailable }

  /// How a connection ends after the answer.
  package enum Ending: String, Sendable {
    /// With close_notify, as TLS wants it.
    case goodbye
    /// With a bare FIN, as somebody on the way could send it.
    case cut
  }

  private let folder: TemporaryDirectory
  private let process: ChildProcess
  package let port: UInt16

  /// - Parameter isOld: speaks TLS 1.0 and 1.1 alone.
  package init(
    _ pair: CertificateAuthority.Pair, answer: [UInt8], ending: Ending = .goodbye, isOld: Bool = false
  ) throws {
    guard let program = Self.program else { throw SpawnError(description: "python3 is not installed") }
    folder = try TemporaryDirectory()
    try Files.write(Self.script, to: folder.path(of: "server.py"))
    try Files.write(folder.path(of: "answer"), length: answer.count) {
      $0.copyBytes(from: answer[$1..<$1 + $0.count])
    }
    process = try ChildProcess.start(
      program,
      [
        "-W", "ignore", folder.path(of: "server.py"), pair.certificate, pair.key, folder.path(of: "answer"),
        ending.rawValue, isOld ? "old" : "new",
      ], environment: ["PATH": "/usr/bin:/bin"])
    var said = ""
    guard
      process.waitForOutput({ stdout, _ in
        said = stdout
        return stdout.contains("\n")
      }), let number = UInt16(said.prefix { $0 != "\n" })
    else { throw SpawnError(description: "the TLS server does not start: \(process.wait().errors)") }
    port = number
  }

  deinit { process.signal(SIGKILL) }

  package func url(_ path: String) -> String { "https://127.0.0.1:\(port)\(path)" }

  /// The heads of all requests so far that were answered, as they came.
  package var requests: String {
    var text = ""
    _ = process.waitForOutput { stdout, _ in
      text = stdout
      return true
    }
    return String(text.drop { $0 != "\n" }.dropFirst())
  }

  private static let script = """
    import socket, ssl, sys, threading

    certificate, key, answer, ending, age = sys.argv[1:]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    # It would rather speak HTTP/2, as most servers would: whoever offers that gets it.
    context.set_alpn_protocols(["h2", "http/1.1"])
    if age == "old":
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    with open(answer, "rb") as file:
        answer = file.read()
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)

    def serve(raw):
        try:
            raw.settimeout(20)
            link = context.wrap_socket(raw, server_side=True)
            head = b""
            while b"\\r\\n\\r\\n" not in head:
                piece = link.recv(4096)
                if not piece:
                    return
                head += piece
            print(head.decode("latin-1"), end="", flush=True)
            link.sendall(answer)
            if ending == "goodbye":
                link.unwrap()
            link.close()
        except OSError:
            raw.close()

    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    """
}
