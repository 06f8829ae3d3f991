// SPDX-License-Identifier: Apache-2.0
#ifndef HAUL_CXXHASH_SHIM_H
#define HAUL_CXXHASH_SHIM_H
#include <xxhash.h>
#endif
