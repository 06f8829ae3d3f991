// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"), .enableUpcomingFeature("InternalImportsByDefault"),
  .treatAllWarnings(as: .error),
]

// What the end to end benchmarks need beside Haul itself. Linux only: it is made of TUN devices.
let package = Package(
  name: "haul-benchmarks",
  targets: [
    .target(name: "CTun"),
    .target(name: "Link", swiftSettings: settings),
    .executableTarget(name: "haul-link", dependencies: ["CTun", "Link"], swiftSettings: settings),
    .testTarget(name: "LinkTests", dependencies: ["Link"], swiftSettings: settings),
  ])
