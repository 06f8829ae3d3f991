// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// One set of settings for every Swift target, so that no room is less strict than the others.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .treatAllWarnings(as: .error),
]

let argumentParser = Target.Dependency.product(
  name: "ArgumentParser", package: "swift-argument-parser")

// Targets stand in layer order, lowest first: each may import only what stands above it here and is named
// in its dependencies. Siblings (transport, disk, digest) never import each other.
let package = Package(
  name: "haul",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "Haul", targets: ["Haul"]),
    .executable(name: "haul", targets: ["HaulCommand"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0")
  ],
  targets: [
    // System libraries and typed C shims, no policy.
    .systemLibrary(
      name: "CCurl", pkgConfig: "libcurl",
      providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
    .systemLibrary(
      name: "COpenSSL", pkgConfig: "libcrypto",
      providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
    .systemLibrary(
      name: "CXXHash", pkgConfig: "libxxhash",
      providers: [.apt(["libxxhash-dev"]), .brew(["xxhash"])]),
    .target(name: "CPlatform", cSettings: [.define("_GNU_SOURCE")]),

    // Pure values: no I/O, no clock, no dice.
    .target(name: "HaulCore", swiftSettings: strict),
    // Threads, monitors, the monotonic clock: what the three siblings share of the machine.
    .target(name: "HaulPlatform", dependencies: ["CPlatform"], swiftSettings: strict),

    .target(
      name: "HaulTransport", dependencies: ["HaulCore", "HaulPlatform", "CCurl"],
      swiftSettings: strict),
    .target(
      name: "HaulDisk", dependencies: ["HaulCore", "HaulPlatform", "CPlatform", "CXXHash"],
      swiftSettings: strict),
    .target(
      name: "HaulDigest", dependencies: ["HaulCore", "HaulPlatform", "COpenSSL", "CXXHash"],
      swiftSettings: strict),

    // The engine and the only public module.
    .target(
      name: "Haul",
      dependencies: ["HaulCore", "HaulPlatform", "HaulTransport", "HaulDisk", "HaulDigest"],
      swiftSettings: strict),

    // The misbehaving server of the demo, the tests and the benchmarks.
    .target(name: "HaulOrigin", dependencies: ["CPlatform"], swiftSettings: strict),

    .executableTarget(
      name: "HaulCommand", dependencies: ["Haul", "HaulCore", "HaulDigest", "HaulOrigin", argumentParser],
      swiftSettings: strict),

    // Tests: one target per module; TestSupport is theirs alone.
    .target(name: "CTestSupport", path: "Tests/CSupport", cSettings: [.define("_GNU_SOURCE")]),
    .target(
      name: "TestSupport", dependencies: ["CPlatform", "CTestSupport", "HaulPlatform"], path: "Tests/Support",
      swiftSettings: strict),
    .testTarget(
      name: "HaulCoreTests", dependencies: ["HaulCore", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "HaulDiskTests", dependencies: ["HaulDisk", "HaulCore", "HaulPlatform", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "HaulDigestTests", dependencies: ["HaulDigest", "HaulCore", "HaulPlatform", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "HaulTransportTests",
      dependencies: ["HaulTransport", "HaulCore", "HaulPlatform", "HaulOrigin", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "HaulTests",
      dependencies: [
        "Haul", "HaulCore", "HaulDisk", "HaulDigest", "HaulPlatform", "HaulOrigin", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "HaulOriginTests", dependencies: ["HaulOrigin", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "HaulCommandTests",
      dependencies: [
        "HaulCommand", "Haul", "HaulCore", "HaulDigest", "HaulDisk", "HaulOrigin", "HaulPlatform",
        "TestSupport",
      ],
      exclude: ["Snapshots"], swiftSettings: strict),
    .testTarget(name: "TidyTests", dependencies: ["TestSupport"], swiftSettings: strict),

    // Networks in virtual time, and the table of paths on which the choice of connections is judged.
    .target(
      name: "PathModel", dependencies: ["HaulCore", "TestSupport"], path: "Tests/PathModel",
      swiftSettings: strict),
    .executableTarget(
      name: "haul-paths", dependencies: ["HaulCore", "PathModel"], path: "Tests/PathTable",
      swiftSettings: strict),

    // What must hold of the readers of strangers' bytes: called by these tests, and by libFuzzer below.
    .target(
      name: "FuzzTargets", dependencies: ["HaulCore", "HaulDisk", "HaulTransport", "TestSupport"],
      path: "Tests/Fuzz/Targets", swiftSettings: strict),
    .testTarget(
      name: "FuzzTests", dependencies: ["FuzzTargets", "TestSupport"], path: "Tests/Fuzz/Replay",
      swiftSettings: strict),
  ]
)

// Scripts/fuzz.sh alone sets this: the instrumentation is in nobody else's way, and not every toolchain has it.
if Context.environment["HAUL_FUZZ"] != nil {
  package.products.append(.executable(name: "haul-fuzz", targets: ["FuzzRunner"]))
  package.targets += [
    .target(name: "CLibFuzzer", path: "Tests/Fuzz/LibFuzzer"),
    .executableTarget(
      name: "FuzzRunner", dependencies: ["CLibFuzzer", "FuzzTargets"], path: "Tests/Fuzz/Runner",
      swiftSettings: strict,
      linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]),
  ]
  let instrumented = ["HaulCore", "HaulDisk", "HaulTransport", "FuzzTargets", "FuzzRunner"]
  for target in package.targets where instrumented.contains(target.name) {
    target.swiftSettings = strict + [.unsafeFlags(["-sanitize=fuzzer,address"])]
  }
}
