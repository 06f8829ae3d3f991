// SPDX-License-Identifier: Apache-2.0
// What Swift cannot see: ioctl is variadic. No policy.
#ifndef CTUN_H
#define CTUN_H

#include <stdint.h>

/// Opens a TUN device of this name, for whole IP packets without a header before them, non-blocking.
/// @return a descriptor, or -1 with errno.
int tun_open(const char *name);

/// Waits until one of two descriptors can be read, at most so many nanoseconds (below a second), or for a signal.
void tun_wait(int one, int other, int64_t nanoseconds);

/// Makes this thread's timers fire within a microsecond of their time.
void tun_sharpen_timers(void);

#endif
