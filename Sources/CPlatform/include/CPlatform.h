// SPDX-License-Identifier: Apache-2.0
//
// System calls that the Glibc module does not show to Swift (it is built without _GNU_SOURCE), with a macOS
// answer for each. Every function returns 0 or a positive errno value; none keeps state or decides anything.

#ifndef HAUL_CPLATFORM_H
#define HAUL_CPLATFORM_H

#include <stdint.h>

#include "CPlatformSockets.h"

/// Reserves `length` bytes from `offset` and extends the file. EOPNOTSUPP where the filesystem cannot.
int haul_preallocate(int descriptor, int64_t offset, int64_t length);

/// Renames within one directory, failing with EEXIST instead of replacing. ENOSYS/EINVAL where unsupported.
int haul_rename_no_replace(int directory, const char *from, const char *to);

/// Data (and what is needed to read it back) to stable storage; F_FULLFSYNC on macOS.
int haul_sync_data(int descriptor);

/// Data and metadata to stable storage; F_FULLFSYNC on macOS.
int haul_sync_file(int descriptor);

/// Drops clean pages of a range from the page cache and starts to write dirty ones back, without waiting.
/// length 0 reaches to the end of the file. macOS knows the whole file only and does nothing for a part of it.
int haul_drop_cache(int descriptor, int64_t offset, int64_t length);

/// The magic number of the filesystem that an open file lies on (statfs, f_type); 0 where it is not to be had.
uint64_t haul_filesystem_magic(int descriptor);

/// Names the calling thread for ps and debuggers (at most 15 bytes on Linux).
void haul_name_thread(const char *name);

#endif
