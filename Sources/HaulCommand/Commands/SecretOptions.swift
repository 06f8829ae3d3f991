// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Haul
import HaulCore

/// The options that carry secrets. What stands on a command line every user of the machine can read in the process
/// list, so each of them can come from elsewhere.
struct SecretOptions: ParsableArguments {
  @Option(
    name: [.customShort("H", allowingJoined: true), .customLong("header")],
    help: ArgumentHelp(
      "A further request header, to the URL's own origin only; @FILE: one a line.",
      valueName: "name: value|@file"))
  var headers: [String] = []

  @Option(
    help: ArgumentHelp(
      "Log in as this user with the password in HAUL_PASSWORD; @FILE: its first line is NAME:PASSWORD.",
      valueName: "name|@file"))
  var user: String?

  @Flag(help: "Take user and password for the URL's host from ~/.netrc.")
  var netrc = false

  /// What they come to, with every file read.
  struct Collected {
    var headers: [String] = []
    var login = DownloadRequest.Login.none
    /// Lines to say beforehand.
    var warnings: [String] = []
  }

  static let passwordVariable = "HAUL_PASSWORD"

  /// - Throws: `ValidationError`, which tells no secret.
  func collect(environment: [String: String]) throws -> Collected {
    var collected = Collected()
    for header in headers {
      if header.hasPrefix("@") {
        let file = try read(String(header.dropFirst()), for: "--header", &collected)
        collected.headers += HeaderLine.lines(ofFile: file.text)
      } else {
        collected.headers.append(header)
      }
    }
    if netrc {
      guard let home = environment["HOME"], !home.isEmpty else {
        throw ValidationError("--netrc: HOME is not set, so there is no ~/.netrc.")
      }
      let path = home + "/.netrc"
      let file = try read(path, for: "--netrc", &collected)
      guard !file.isOpenToOthers else {
        throw ValidationError(
          "--netrc: \(path) is open to other users; make it yours alone: chmod 600 \(path)")
      }
      collected.login = .netrc(text: file.text)
    }
    if let user { try logIn(user, environment, &collected) }
    return collected
  }

  private func logIn(_ user: String, _ environment: [String: String], _ collected: inout Collected) throws {
    if user.hasPrefix("@") {
      let path = String(user.dropFirst())
      let file = try read(path, for: "--user", &collected)
      let line = HeaderLine.lines(ofFile: file.text).first ?? ""
      guard let found = Credentials(pair: line) else {
        throw ValidationError("--user: the first line of \(path) is not NAME:PASSWORD.")
      }
      collected.login = .basic(user: found.user, password: found.password)
    } else if user.contains(":") || user.isEmpty {
      // What follows the colon is not repeated.
      throw ValidationError(
        """
        --user takes a name alone: a password on the command line can be read by every user of the machine. \
        Put it into \(Self.passwordVariable), or NAME:PASSWORD into a file and give --user @FILE.
        """)
    } else if let password = environment[Self.passwordVariable] {
      collected.login = .basic(user: user, password: password)
    } else if case .netrc(let text, _) = collected.login {
      collected.login = .netrc(text: text, user: user)
    } else {
      throw ValidationError(
        """
        --user \(user): there is no password. Put it into \(Self.passwordVariable), or NAME:PASSWORD into a file \
        and give --user @FILE.
        """)
    }
  }

  private func read(_ path: String, for option: String, _ collected: inout Collected) throws -> SecretFile {
    do throws(SecretFileError) {
      let file = try SecretFile(path: path == "-" ? "/dev/stdin" : path)
      if file.isOpenToOthers, option != "--netrc" {
        collected.warnings.append(
          "haul: warning: \(path) is open to other users; chmod 600 makes it yours alone")
      }
      return file
    } catch {
      throw ValidationError("\(option): cannot read \(error.path): \(error.why).")
    }
  }
}
