// SPDX-License-Identifier: Apache-2.0
//
// What the tests need of the system and the Glibc module does not show (it is built without _GNU_SOURCE).

#ifndef HAUL_CTESTSUPPORT_H
#define HAUL_CTESTSUPPORT_H

/// A terminal of so many columns: `ends[0]` is ours, `ends[1]` is the child's; both close-on-exec. Returns 0 or a
/// positive errno value.
int haul_test_terminal(int ends[2], int columns);

#endif
