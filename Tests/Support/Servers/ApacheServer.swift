// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// An Apache with its own configuration in a folder of its own, stopped with the value.
package final class ApacheServer: Sendable {
  package static let program = ServerSite.find("apache2", "httpd")
  private static let moduleFolder = [
    "/usr/lib/apache2/modules", "/usr/lib64/httpd/modules", "/usr/libexec/apache2",
    "/opt/homebrew/lib/httpd/modules",
  ].first { Files.exists("\($0)/mod_mpm_event.so") }
  package static var isInstalled: Bool { program != nil && moduleFolder != nil }

  package let root: String
  package let certificate: String
  private let folder: TemporaryDirectory
  private let process: ChildProcess
  private let ports: [UInt16]

  package init() throws {
    guard let program = Self.program, let modules = Self.moduleFolder else {
      throw SpawnError(description: "Apache is not installed")
    }
    let folder = try TemporaryDirectory()
    self.folder = folder
    root = folder.path(of: "root")
    certificate = folder.path(of: "cert.pem")
    mkdir(root, 0o755)
    // Started by root it serves as somebody else, who has to get in.
    chmod(folder.path, 0o755)
    try ServerSite.makeCertificate(in: folder.path)
    (process, ports) = try ServerSite.start(program, ready: "resuming normal operations") { ports in
      let file = folder.path(of: "httpd.conf")
      try Files.write(Self.configuration(folder.path, modules, ports), to: file)
      // In the foreground: stopped by its number, it takes its child along.
      return ["-D", "FOREGROUND", "-d", folder.path, "-f", file]
    }
  }

  deinit {
    process.signal(SIGTERM)
    process.wait()
  }

  /// `path` begins with the way in which it is served: plain or whole.
  package func url(_ path: String) -> String { "http://127.0.0.1:\(ports[0])/\(path)" }
  package func secureURL(_ path: String) -> String { "https://127.0.0.1:\(ports[1])/\(path)" }

  private static func configuration(_ folder: String, _ modules: String, _ ports: [UInt16]) -> String {
    let loaded = ["mpm_event", "authz_core", "unixd", "alias", "ssl"].filter {
      Files.exists("\(modules)/mod_\($0).so")
    }
    .map { "LoadModule \($0)_module \(modules)/mod_\($0).so" }
    let user =
      geteuid() == 0 ? "User nobody\nGroup \(Files.exists("/etc/debian_version") ? "nogroup" : "nobody")" : ""
    return """
      \(loaded.joined(separator: "\n"))
      \(user)
      ServerName 127.0.0.1
      Listen 127.0.0.1:\(ports[0])
      Listen 127.0.0.1:\(ports[1])
      PidFile \(folder)/httpd.pid
      DefaultRuntimeDir \(folder)
      Mutex file:\(folder)
      ErrorLog /dev/stderr
      LogLevel notice
      StartServers 1
      ServerLimit 1
      ThreadsPerChild 64
      MaxRequestWorkers 64
      Alias /plain/ \(folder)/root/
      Alias /whole/ \(folder)/root/
      <Directory \(folder)/root>
        Require all granted
      </Directory>
      <Location /whole/>
        MaxRanges none
      </Location>
      <VirtualHost 127.0.0.1:\(ports[1])>
        SSLEngine on
        SSLCertificateFile \(folder)/cert.pem
        SSLCertificateKeyFile \(folder)/key.pem
      </VirtualHost>

      """
  }
}
