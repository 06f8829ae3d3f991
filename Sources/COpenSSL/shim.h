// SPDX-License-Identifier: Apache-2.0
#ifndef HAUL_COPENSSL_SHIM_H
#define HAUL_COPENSSL_SHIM_H
#include <openssl/evp.h>
#endif
