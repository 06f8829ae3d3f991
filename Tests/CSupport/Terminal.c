// SPDX-License-Identifier: Apache-2.0

#include "CTestSupport.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

int haul_test_terminal(int ends[2], int columns) {
  int ours = posix_openpt(O_RDWR | O_NOCTTY);
  if (ours < 0) return errno;
  int theirs = -1;
  const char *name = NULL;
  if (fcntl(ours, F_SETFD, FD_CLOEXEC) == 0 && grantpt(ours) == 0 && unlockpt(ours) == 0) name = ptsname(ours);
  if (name) theirs = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
  struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)columns};
  if (theirs < 0 || ioctl(theirs, TIOCSWINSZ, &size) != 0) {
    int code = errno;
    if (theirs >= 0) close(theirs);
    close(ours);
    return code;
  }
  ends[0] = ours;
  ends[1] = theirs;
  return 0;
}
