// SPDX-License-Identifier: Apache-2.0

#include "CPlatformSockets.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/sockios.h>
#else
static int close_on_exec(int descriptor) {
  return fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 ? 0 : errno;
}
#endif

int haul_accept(int listener, int *connection) {
#if defined(__linux__)
  *connection = accept4(listener, 0, 0, SOCK_CLOEXEC);
  return *connection >= 0 ? 0 : errno;
#else
  *connection = accept(listener, 0, 0);
  return *connection >= 0 ? close_on_exec(*connection) : errno;
#endif
}

int haul_pipe(int ends[2]) {
#if defined(__linux__)
  return pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
#else
  if (pipe(ends) != 0) return errno;
  int first = close_on_exec(ends[0]), second = close_on_exec(ends[1]);
  return first != 0 ? first : second;
#endif
}

int haul_tcp_socket(int *socket_out) {
#if defined(__linux__)
  *socket_out = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  return *socket_out >= 0 ? 0 : errno;
#else
  *socket_out = socket(AF_INET, SOCK_STREAM, 0);
  return *socket_out >= 0 ? close_on_exec(*socket_out) : errno;
#endif
}

int haul_unacknowledged(int socket_in) {
#if defined(__linux__)
  int bytes = 0;
  return ioctl(socket_in, SIOCOUTQ, &bytes) == 0 ? bytes : -1;
#else
  (void)socket_in;
  return -1;
#endif
}
