#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Prints every Swift file of the project, each ended by a NUL: what `make format` writes and `make lint` reads.
# Build folders are not ours to judge.

cd "$(dirname "$0")/.." || exit
for place in Sources Tests Benchmarks Package.swift; do
  [ -e "$place" ] && find "$place" -type d -name '.build*' -prune -o -type f -name '*.swift' -print0
done
