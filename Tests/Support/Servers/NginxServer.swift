// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// An nginx of one process, with its own configuration in a folder of its own, stopped with the value.
package final class NginxServer: Sendable {
  package static let program = ServerSite.find("nginx")
  package static var isInstalled: Bool { program != nil }

  /// The folder that its paths show.
  package let root: String
  package let certificate: String
  private let folder: TemporaryDirectory
  private let process: ChildProcess
  private let ports: [UInt16]

  package init() throws {
    guard let program = Self.program else { throw SpawnError(description: "nginx is not installed") }
    let folder = try TemporaryDirectory()
    self.folder = folder
    root = folder.path(of: "root")
    certificate = folder.path(of: "cert.pem")
    mkdir(root, 0o755)
    try ServerSite.makeCertificate(in: folder.path)
    (process, ports) = try ServerSite.start(program, ready: "event method") { ports in
      let file = folder.path(of: "nginx.conf")
      try Files.write(Self.configuration(folder.path, ports), to: file)
      return ["-p", folder.path, "-c", file, "-e", "stderr"]
    }
  }

  deinit {
    process.signal(SIGTERM)
    process.wait()
  }

  /// `path` begins with the way in which it is served: plain, slow, few, whole, zip, or
  /// abc, which declares every file to have the SHA-256 of "abc".
  package func url(_ path: String) -> String { "http://127.0.0.1:\(ports[0])/\(path)" }
  package var securePort: UInt16 { ports[1] }
  package func secureURL(_ path: String) -> String { "https://127.0.0.1:\(ports[1])/\(path)" }

  private static func configuration(_ folder: String, _ ports: [UInt16]) -> String {
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
      "  \($0)_temp_path \(folder)/\($0);"
    }
    return """
      daemon off;
      master_process off;
      pid \(folder)/nginx.pid;
      error_log stderr notice;
      events { worker_connections 256; }
      http {
      \(temporary.joined(separator: "\n"))
        access_log \(folder)/access.log;
        limit_conn_zone $binary_remote_addr zone=few:1m;
        default_type text/plain;
        sendfile on;
        server {
          listen 127.0.0.1:\(ports[0]);
          listen 127.0.0.1:\(ports[1]) ssl;
          ssl_certificate \(folder)/cert.pem;
          ssl_certificate_key \(folder)/key.pem;
          location /plain/ { alias \(folder)/root/; }
          location /slow/ { alias \(folder)/root/; limit_rate 4m; }
          location /few/ { alias \(folder)/root/; limit_conn few 2; limit_rate 4m; }
          location /whole/ { alias \(folder)/root/; max_ranges 0; }
          location /abc/ {
            alias \(folder)/root/;
            add_header Repr-Digest "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:";
          }
          location /zip/ { alias \(folder)/root/; gzip on; gzip_min_length 1; gzip_types text/plain; }
        }
      }

      """
  }

  /// What it has answered, one line a request.
  package func accessLog() throws -> String { try Files.text(of: folder.path(of: "access.log")) }
}
