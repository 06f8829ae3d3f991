// SPDX-License-Identifier: Apache-2.0

// What libFuzzer offers to a program that has its own main (llvm.org/docs/LibFuzzer.html).
#pragma once
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(
    int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
