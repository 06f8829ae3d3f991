// SPDX-License-Identifier: Apache-2.0

internal import CPlatform

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What real servers need: programs that may be missing, ports, a certificate.
package enum ServerSite {
  /// Debian keeps servers where an ordinary user's PATH does not look.
  package static func find(_ names: String...) -> String? {
    let path = getenv("PATH").map { String(cString: $0) } ?? ""
    let folders = path.split(separator: ":").map(String.init) + ["/usr/local/sbin", "/usr/sbin", "/sbin"]
    for name in names {
      for folder in folders where Files.isExecutable("\(folder)/\(name)") { return "\(folder)/\(name)" }
    }
    return nil
  }

  /// A port of 127.0.0.1 that nobody had a moment ago. Whoever binds it must be ready to find it taken.
  package static func freePort() -> UInt16 {
    var descriptor: Int32 = -1
    guard haul_tcp_socket(&descriptor) == 0 else { return 0 }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 ? getsockname(descriptor, $0, &size) : -1
      }
    }
    return code == 0 ? UInt16(bigEndian: address.sin_port) : 0
  }

  /// Makes `cert.pem` and `key.pem` for 127.0.0.1 in a folder, signed by nobody but themselves.
  package static func makeCertificate(in folder: String) throws {
    guard let openssl = find("openssl") else { throw SpawnError(description: "openssl is not installed") }
    let made = try ChildProcess.run(
      openssl,
      [
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "\(folder)/key.pem", "-out",
        "\(folder)/cert.pem",
      ], environment: ["PATH": "/usr/bin:/bin"])
    guard made.end == .exit(0) else { throw SpawnError(description: made.errors) }
  }

  /// The SHA-256 of a file by a program that is not ours.
  package static func sha256(of path: String) throws -> String {
    guard let openssl = find("openssl") else { throw SpawnError(description: "openssl is not installed") }
    let ended = try ChildProcess.run(
      openssl, ["dgst", "-sha256", "-r", path], environment: ["PATH": "/usr/bin:/bin"])
    return String(ended.output.prefix { $0 != " " })
  }

  /// Starts a server with the configuration that `make` gives for a port, until one finds its port free.
  /// - Parameter ready: what it writes to standard error once it listens.
  static func start(
    _ program: String, ready: String, arguments: (_ ports: [UInt16]) throws -> [String]
  ) throws -> (process: ChildProcess, ports: [UInt16]) {
    var said = ""
    for _ in 0..<5 {
      let ports = [freePort(), freePort()]
      let process = try ChildProcess.start(
        program, try arguments(ports), environment: ["PATH": "/usr/sbin:/usr/bin:/bin"], lifetime: 300)
      if process.waitForOutput({ $1.contains(ready) }) { return (process, ports) }
      said = process.wait().errors
    }
    throw SpawnError(description: "\(program) does not start: \(said)")
  }
}
