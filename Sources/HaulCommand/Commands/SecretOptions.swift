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
    /// Where the `.netrc` is, if that is what the login comes from.
    var netrcPath: String?

    /// What to say before `url` is asked for; nil where all is well.
    func warning(for url: String) -> String? {
      guard let netrcPath, case .netrc(let text, nil) = login, let host = RequestURL.hostWithoutLogin(url),
        Netrc(text).credentials(host: host) == nil
      else { return nil }
      return "warning: \(netrcPath) has no entry for \(host), which is asked without a login"
    }
  }

  static let passwordVariable = "HAUL_PASSWORD"

  /// - Throws: `DownloadError`, which tells no secret.
  func collect(environment: [String: String]) throws(DownloadError) -> Collected {
    var collected = Collected()
    for (index, header) in headers.enumerated() {
      if header.hasPrefix("@") {
        let file = try SecretSource(String(header.dropFirst()), option: "-H")
        for (number, line) in HeaderLine.numberedLines(ofFile: file.text) {
          try check(line, "line \(number) of \(file.name)")
          collected.headers.append(line)
        }
      } else {
        try check(header, headers.count == 1 ? "the header of -H" : "the header of -H number \(index + 1)")
        collected.headers.append(header)
      }
    }
    if netrc {
      guard let home = environment["HOME"], !home.isEmpty else {
        throw DownloadError(
          .invalidRequest, "--netrc: HOME is not set, so there is no ~/.netrc",
          advice: "set HOME, or use --user")
      }
      let file = try SecretSource(home + "/.netrc", option: "--netrc")
      (collected.login, collected.netrcPath) = (.netrc(text: file.text), file.name)
    }
    if let user { try logIn(user, environment, &collected) }
    return collected
  }

  private func check(_ line: String, _ place: String) throws(DownloadError) {
    guard let problem = HeaderLine.problem(with: line) else { return }
    throw DownloadError(
      .invalidRequest, "\(place) cannot be sent: \(problem.reason)", advice: problem.advice)
  }

  private func logIn(
    _ user: String, _ environment: [String: String], _ collected: inout Collected
  ) throws(DownloadError) {
    if user.hasPrefix("@") {
      let file = try SecretSource(String(user.dropFirst()), option: "--user")
      guard let found = HeaderLine.lines(ofFile: file.text).first.flatMap(Credentials.init(pair:)) else {
        throw DownloadError(
          .invalidRequest, "--user: the first line of \(file.name) is not NAME:PASSWORD",
          advice: "write name and password there, with a colon between them")
      }
      collected.login = .basic(user: found.user, password: found.password)
    } else if user.contains(":") || user.isEmpty {
      // What follows the colon is not repeated.
      throw DownloadError(
        .invalidRequest,
        "--user takes a name alone: a password on the command line can be read by every user of the machine",
        advice: Self.passwordAdvice)
    } else if let password = environment[Self.passwordVariable] {
      guard !password.isEmpty else {
        throw DownloadError(
          .invalidRequest, "--user \(user): \(Self.passwordVariable) is empty",
          advice:
            "put the password into it; if there really is none, put '\(user):' into a file and give --user @FILE"
        )
      }
      collected.login = .basic(user: user, password: password)
    } else if case .netrc(let text, _) = collected.login {
      collected.login = .netrc(text: text, user: user)
    } else {
      throw DownloadError(
        .invalidRequest, "--user \(user): there is no password", advice: Self.passwordAdvice)
    }
  }

  private static let passwordAdvice =
    "put the password into \(passwordVariable), or NAME:PASSWORD into a file and give --user @FILE"
}

/// A file of secrets as an option names it; `-` is standard input.
private struct SecretSource {
  let name: String
  let text: String

  init(_ path: String, option: String) throws(DownloadError) {
    let isInput = path == "-"
    name = isInput ? "standard input" : path
    let file: SecretFile
    do throws(SecretFileError) {
      file = try SecretFile(path: isInput ? "/dev/stdin" : path)
    } catch {
      throw DownloadError(
        .invalidRequest, "\(option): cannot read \(name): \(error.why)", advice: "check its name and its mode"
      )
    }
    // What the shell has opened is the shell's to guard.
    guard isInput || !file.isOpenToOthers else {
      throw DownloadError(
        .invalidRequest, "\(option): other users may read \(path), where secrets are kept",
        advice: "make it yours alone: chmod 600 \(path)")
    }
    text = file.text
  }
}
