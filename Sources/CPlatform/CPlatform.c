// SPDX-License-Identifier: Apache-2.0

#include "CPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/vfs.h>
#endif

int haul_preallocate(int descriptor, int64_t offset, int64_t length) {
#if defined(__linux__)
  int result;
  do {
    result = fallocate(descriptor, 0, offset, length);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
#else
  fstore_t request = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, length, 0};
  if (fcntl(descriptor, F_PREALLOCATE, &request) != 0) return errno == ENOTSUP ? EOPNOTSUPP : errno;
  return ftruncate(descriptor, offset + length) == 0 ? 0 : errno;
#endif
}

int haul_rename_no_replace(int directory, const char *from, const char *to) {
#if defined(__linux__)
  return renameat2(directory, from, directory, to, RENAME_NOREPLACE) == 0 ? 0 : errno;
#else
  return renameatx_np(directory, from, directory, to, RENAME_EXCL) == 0 ? 0 : errno;
#endif
}

int haul_sync_data(int descriptor) {
#if defined(__linux__)
  return fdatasync(descriptor) == 0 ? 0 : errno;
#else
  return haul_sync_file(descriptor);
#endif
}

int haul_sync_file(int descriptor) {
#if defined(F_FULLFSYNC)
  if (fcntl(descriptor, F_FULLFSYNC) == 0) return 0;
#endif
  return fsync(descriptor) == 0 ? 0 : errno;
}

int haul_drop_cache(int descriptor, int64_t offset, int64_t length) {
#if defined(__linux__)
  return posix_fadvise(descriptor, offset, length, POSIX_FADV_DONTNEED);
#else
  if (offset != 0 || length != 0) return 0;
  return fcntl(descriptor, F_NOCACHE, 1) == 0 ? 0 : errno;
#endif
}

uint64_t haul_filesystem_magic(int descriptor) {
#if defined(__linux__)
  struct statfs status;
  return fstatfs(descriptor, &status) == 0 ? (uint64_t)(uint32_t)status.f_type : 0;
#else
  (void)descriptor;
  return 0;
#endif
}

void haul_name_thread(const char *name) {
#if defined(__linux__)
  pthread_setname_np(pthread_self(), name);
#else
  pthread_setname_np(name);
#endif
}
