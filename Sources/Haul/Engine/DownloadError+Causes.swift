// SPDX-License-Identifier: Apache-2.0

internal import HaulCore
internal import HaulDisk

extension DownloadError {
  /// What a failed operation on the disk means for a download.
  init(_ error: DiskError, kept: Kept?) {
    let goOn = "then run the same command again"
    let (code, advice): (Code, String)
    switch error.kind {
    case .noSpace: (code, advice) = (.disk, "make room, \(goOn); or choose another folder with -d")
    case .exists:
      (code, advice) = (
        .exists,
        "nothing was touched; choose another name with -o or folder with -d, or replace it with --overwrite"
      )
    case .busy: (code, advice) = (.busy, "wait for it, or choose another name with -o")
    case .foreign:
      (code, advice) = (.occupied, "nothing was touched; move it away, or choose another name with -o")
    case .readOnly, .permission: (code, advice) = (.disk, "choose a folder that you may write to with -d")
    case .missing, .gone:
      // The command stands last, so that it can be taken over as it is.
      let command =
        error.kind == .gone && error.operation == "open" ? ": mkdir -p \(Self.shellWord(error.path))" : ""
      (code, advice) = (.disk, "make the folder first, \(goOn)\(command)")
    case .notFolder: (code, advice) = (.disk, "give the folder with -d, and the name of a file in it with -o")
    case .readerGone: (code, advice) = (.disk, "whoever read the output has closed it")
    case .tooManyFiles:
      (code, advice) = (.other, "raise the limit (ulimit -n) or take fewer connections (-c), \(goOn)")
    case .poisoned, .io, .incomplete, .unsupported: (code, advice) = (.disk, "check the disk, \(goOn)")
    }
    self.init(code, "\(error)", kept: kept, advice: advice)
  }

  /// What the end of a transfer means for a download.
  init(_ failure: TransferFailure, plan: DownloadPlan, url: String) {
    let again = "then run the same command again"
    let (code, advice): (Code, String)
    switch failure.kind {
    case .network: (code, advice) = (.network, "check the connection, \(again)")
    case .untrusted:
      (code, advice) = (.network, "if the certificate is right, name its authority with --cacert")
    case .notTLS:
      (code, advice) = (.network, "check the port; if the server has no TLS there, write http:// in front")
    case .caFile: (code, advice) = (.invalidRequest, "give a file of certificates in PEM form with --cacert")
    case .refused(let status): (code, advice) = (.refused, Self.advice(status: status))
    case .changed: (code, advice) = (.changed, Self.advice(changed: plan))
    case .otherFile:
      (code, advice) = (
        .occupied, "what was there is kept; choose another name with -o, or start over with --overwrite"
      )
    case .elsewhere:
      (code, advice) = (
        .changed,
        "what is there is kept: the same command goes on where the first place answers again; "
          + "or start over with --overwrite"
      )
    case .brokenProtocol:
      (code, advice) = (.brokenProtocol, "try another mirror; where its ranges are wrong, -c 1 may help")
    case .unframed:
      (code, advice) = (
        .brokenProtocol, "run it again with its --sha256, or take it as it is with --accept-unframed"
      )
    case .local: (code, advice) = (.other, "close other programs and try again")
    }
    self.init(code, "\(url): \(failure.message)", advice: advice)
  }

  /// A path as it can be typed.
  private static func shellWord(_ path: String) -> String {
    let isPlain = path.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        || "/._-+,~".utf8.contains(byte)
    }
    return isPlain ? path : "'" + path.replacing("'", with: "'\\''") + "'"
  }

  private static func advice(changed plan: DownloadPlan) -> String {
    plan.options.restartsOnChange
      ? "wait until it is no longer written to, then run the same command again"
      : "the bytes of the earlier version are kept; start over without --no-restart"
  }

  private static func advice(status: Int) -> String {
    switch status {
    case 401:
      "credentials are missing or wrong: give them with --user, --netrc or an Authorization header (-H)"
    case 407: "the proxy wants a user name and a password: give them in the proxy variable's URL"
    case 403: "the link may have expired or want a header (-H)"
    case 404, 410: "check the URL"
    case 429, 503: "wait and try again, with fewer connections (-c)"
    case 408, 425, 500..<600: "try again later"
    default: "check the URL; the server does not serve it to a plain GET"
    }
  }
}
