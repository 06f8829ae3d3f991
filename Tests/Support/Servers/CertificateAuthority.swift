// SPDX-License-Identifier: Apache-2.0

/// A certificate authority of a test's own, made by the openssl command in a folder that goes with it.
package final class CertificateAuthority: Sendable {
  package static var isAvailable: Bool { ServerSite.find("openssl") != nil }

  /// A certificate and its key, as PEM files.
  package struct Pair: Sendable {
    package let certificate: String
    package let key: String
  }

  private let folder: TemporaryDirectory
  /// What to trust.
  package let certificate: String

  package init() throws {
    let folder = try TemporaryDirectory()
    self.folder = folder
    certificate = folder.path(of: "ca.pem")
    try Self.openssl(
      ["req", "-x509"] + Self.newKey + [
        "-days", "2", "-subj", "/CN=Haul test authority", "-keyout", folder.path(of: "ca.key"), "-out",
        certificate,
      ])
  }

  /// A certificate that this authority has signed.
  ///
  /// - Parameters:
  ///   - alternativeName: such as `IP:127.0.0.1`; nil leaves the subject's common name alone to tell the host.
  ///   - days: from now until it expires; below 0 it has expired.
  package func issue(
    _ name: String, commonName: String = "haul test", alternativeName: String? = "IP:127.0.0.1", days: Int = 2
  ) throws -> Pair {
    let path = folder.path(of: name)
    let pair = Pair(certificate: path + ".pem", key: path + ".key")
    try Self.openssl(
      ["req"] + Self.newKey + ["-subj", "/CN=\(commonName)", "-keyout", pair.key, "-out", path + ".csr"])
    try Files.write(
      alternativeName.map { "subjectAltName=\($0)\n" } ?? "basicConstraints=CA:FALSE\n", to: path + ".ext")
    try Self.openssl([
      "x509", "-req", "-in", path + ".csr", "-CA", certificate, "-CAkey", folder.path(of: "ca.key"),
      "-CAcreateserial", "-days", "\(days)", "-extfile", path + ".ext", "-out", pair.certificate,
    ])
    return pair
  }

  /// A certificate that nobody but itself has signed.
  package func selfSigned() throws -> Pair {
    let pair = Pair(certificate: folder.path(of: "self.pem"), key: folder.path(of: "self.key"))
    try Self.openssl(
      ["req", "-x509"] + Self.newKey + [
        "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", pair.key,
        "-out", pair.certificate,
      ])
    return pair
  }

  private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

  private static func openssl(_ arguments: [String]) throws {
    guard let program = ServerSite.find("openssl") else {
      throw SpawnError(description: "openssl is not installed")
    }
    let made = try ChildProcess.run(program, arguments, environment: ["PATH": "/usr/bin:/bin"])
    guard made.end == .exit(0) else { throw SpawnError(description: made.errors) }
  }
}
