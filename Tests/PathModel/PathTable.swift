// SPDX-License-Identifier: Apache-2.0

/// The paths on which the automatic choice is judged. Fixed: a change of this table is a change of the claim.
package enum PathTable {
  package static let fixedCounts = [1, 2, 4, 8, 16, 32, 64]

  package static let all: [PathShape] = [
    // Bottlenecks and round trips, without loss.
    PathShape("20 Mbit/s, 5 ms", megabytes: 20, megabits: 20, milliseconds: 5),
    PathShape("20 Mbit/s, 80 ms", megabytes: 20, megabits: 20, milliseconds: 80),
    PathShape("20 Mbit/s, 200 ms", megabytes: 20, megabits: 20, milliseconds: 200),
    PathShape("200 Mbit/s, 5 ms", megabytes: 200, megabits: 200, milliseconds: 5),
    PathShape("200 Mbit/s, 80 ms", megabytes: 100, megabits: 200, milliseconds: 80),
    PathShape("200 Mbit/s, 200 ms", megabytes: 200, megabits: 200, milliseconds: 200),
    PathShape("2 Gbit/s, 5 ms", megabytes: 1000, megabits: 2000, milliseconds: 5),
    PathShape("2 Gbit/s, 80 ms", megabytes: 1000, megabits: 2000, milliseconds: 80),
    PathShape("2 Gbit/s, 200 ms", megabytes: 2000, megabits: 2000, milliseconds: 200),
    // Loss.
    PathShape("200 Mbit/s, 5 ms, 0.1 %", megabytes: 200, megabits: 200, milliseconds: 5, loss: 0.001),
    PathShape("200 Mbit/s, 80 ms, 0.1 %", megabytes: 100, megabits: 200, milliseconds: 80, loss: 0.001),
    PathShape("200 Mbit/s, 80 ms, 0.5 %, 20 MB", megabytes: 20, megabits: 200, milliseconds: 80, loss: 0.005),
    PathShape("200 Mbit/s, 80 ms, 0.5 %", megabytes: 100, megabits: 200, milliseconds: 80, loss: 0.005),
    PathShape("200 Mbit/s, 80 ms, 2 %", megabytes: 50, megabits: 200, milliseconds: 80, loss: 0.02),
    PathShape("200 Mbit/s, 200 ms, 0.5 %", megabytes: 50, megabits: 200, milliseconds: 200, loss: 0.005),
    PathShape("2 Gbit/s, 80 ms, 0.1 %", megabytes: 500, megabits: 2000, milliseconds: 80, loss: 0.001),
    PathShape("20 Mbit/s, 80 ms, 2 %", megabytes: 20, megabits: 20, milliseconds: 80, loss: 0.02),
    // Servers that give each connection only so much.
    PathShape("8 MB/s a connection, 5 ms", megabytes: 1000, megabits: 2000, milliseconds: 5) {
      $0.connectionRate = 8e6
    },
    PathShape("1 MB/s a connection, 80 ms", megabytes: 100, megabits: 200, milliseconds: 80) {
      $0.connectionRate = 1e6
    },
    // Servers that allow only so many.
    PathShape("2 connections, 80 ms", megabytes: 100, megabits: 200, milliseconds: 80) {
      $0.connectionLimit = 2
      $0.connectionRate = 8e6
    },
    PathShape("4 connections, 80 ms", megabytes: 100, megabits: 200, milliseconds: 80) {
      $0.connectionLimit = 4
      $0.connectionRate = 4e6
    },
    PathShape("8 connections, 80 ms, 0.5 %", megabytes: 50, megabits: 200, milliseconds: 80, loss: 0.005) {
      $0.connectionLimit = 8
    },
    // Odd ones.
    PathShape("punished above 8", megabytes: 200, megabits: 200, milliseconds: 20) { $0.punishesAbove = 8 },
    PathShape("one at 400 B/s", megabytes: 200, megabits: 400, milliseconds: 20) {
      $0.trickling = 3
      $0.connectionRate = 8e6
    },
    PathShape("one stalls", megabytes: 200, megabits: 400, milliseconds: 20) {
      $0.stalling = 2
      $0.connectionRate = 8e6
    },
    PathShape("faster after 3 s", megabytes: 100, megabits: 20, milliseconds: 80, loss: 0.001) {
      $0.change = (3, 200e6 / 8)
    },
    PathShape("slower after 2 s", megabytes: 60, megabits: 200, milliseconds: 80) {
      $0.change = (2, 20e6 / 8)
    },
  ]
}
