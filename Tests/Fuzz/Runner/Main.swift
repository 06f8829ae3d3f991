// SPDX-License-Identifier: Apache-2.0

import CLibFuzzer
import FuzzTargets

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// `haul-fuzz TARGET [libFuzzer's options]`, and `haul-fuzz --list`. libFuzzer starts itself again to merge and to
/// minimise, with its own options alone: then the target's name comes from the environment.
@main
enum Main {
  static func main() {
    let arguments = CommandLine.arguments
    if arguments.dropFirst() == ["--list"] {
      for target in FuzzTarget.all { print(target.name) }
      return
    }
    let inherited = getenv(variable).map { String(cString: $0) }
    for (name, options) in [(arguments.dropFirst().first, 2), (inherited, 1)] {
      guard let index = FuzzTarget.all.firstIndex(where: { $0.name == name }) else { continue }
      chosen = index
      setenv(variable, FuzzTarget.all[index].name, 1)
      run([arguments[0], "-max_len=\(FuzzTarget.all[index].mostBytes)"] + arguments.dropFirst(options))
    }
    complain("usage: haul-fuzz TARGET [libFuzzer's options] | --list")
    exit(64)
  }

  private static let variable = "HAUL_FUZZ_TARGET"

  private static func run(_ arguments: [String]) -> Never {
    // libFuzzer keeps these pointers for as long as the program runs.
    var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    var count = Int32(arguments.count)
    let code = pointers.withUnsafeMutableBufferPointer { buffer in
      var base = buffer.baseAddress
      return LLVMFuzzerRunDriver(&count, &base, tryInput)
    }
    exit(code)
  }
}

/// Which target the callback runs. `nonisolated(unsafe)` because only one thread is there: it is set before
/// libFuzzer starts.
nonisolated(unsafe) private var chosen = 0

/// One input. Aborts on a violation, so that libFuzzer keeps the input.
private func tryInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
  let input = [UInt8](UnsafeBufferPointer(start: data, count: size))
  do {
    try FuzzTarget.all[chosen].check(input)
  } catch {
    complain("\(FuzzTarget.all[chosen].name): \(error)")
    abort()
  }
  return 0
}

/// To standard error, past any buffer: the program may end right after.
private func complain(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  _ = write(2, bytes, bytes.count)
}
