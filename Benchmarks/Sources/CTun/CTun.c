// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CTun.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

int tun_open(const char *name) {
  int file = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return -1;
  struct ifreq request;
  memset(&request, 0, sizeof request);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  strncpy(request.ifr_name, name, IFNAMSIZ - 1);
  if (ioctl(file, TUNSETIFF, &request) < 0) {
    int why = errno;
    close(file);
    errno = why;
    return -1;
  }
  return file;
}

void tun_wait(int one, int other, int64_t nanoseconds) {
  struct pollfd files[2] = {{.fd = one, .events = POLLIN}, {.fd = other, .events = POLLIN}};
  struct timespec limit = {.tv_sec = 0, .tv_nsec = nanoseconds};
  ppoll(files, 2, &limit, NULL);
}

void tun_sharpen_timers(void) { prctl(PR_SET_TIMERSLACK, 1000UL); }
