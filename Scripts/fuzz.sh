#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the fuzzers of Tests/Fuzz/Targets with libFuzzer and AddressSanitizer.
#
#   Scripts/fuzz.sh SECONDS [TARGET...]     each target (all of them unless named) so many seconds
#   Scripts/fuzz.sh --keep                  what earlier runs have found goes into the kept corpus, the
#                                           smallest that reach the most
#
# Two run at a time. New inputs are kept in .build-fuzz/corpus; an input that breaks a target in
# .build-fuzz/found, and the exit status is then 1. To see it again: .build-fuzz/release/haul-fuzz TARGET FILE

set -uo pipefail
cd "$(dirname "$0")/.."

build=.build-fuzz
runner=$build/release/haul-fuzz
corpus=Tests/Fuzz/Corpus
# A request for more than this at once, in MiB, is taken for a count that was believed too early.
most_at_once=64
# Found inputs that are kept of each target.
most_kept=40
# Swift's own report of a crash would take the place of libFuzzer's, which keeps the input.
export SWIFT_BACKTRACE=enable=no
# The loader's files are small and many; memory is the place for them.
[ -d /dev/shm ] && export TMPDIR=/dev/shm

# libFuzzer comes with the Swift toolchains for Linux, not with Apple's.
if [ -z "$(find "$(dirname "$(readlink -f "$(command -v swift)")")/../lib/clang" -name 'libclang_rt.fuzzer*' 2>/dev/null)" ]
then
  echo "fuzz: this Swift toolchain has no libFuzzer; the corpus is replayed by the ordinary tests" >&2
  exit 0
fi

compile() {
  local log
  log=$(mktemp)
  if ! HAUL_FUZZ=1 swift build -c release --scratch-path "$build" --product haul-fuzz ${SWIFT_JOBS:-} >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    exit 1
  fi
  rm -f "$log"
}

fuzz() {
  local target=$1 seconds=$2 log=$build/found/$1.log
  mkdir -p "$build/corpus/$target" "$corpus/$target"
  if "$runner" "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -malloc_limit_mb="$most_at_once" -print_final_stats=1 -artifact_prefix="$build/found/$target-" \
    "$build/corpus/$target" "$corpus/$target" >"$log" 2>&1
  then
    printf 'fuzz: %-20s %s inputs\n' "$target" "$(awk '/number_of_executed_units/ { print $2 }' "$log")"
  else
    printf 'fuzz: %-20s FAILED, see %s\n' "$target" "$log"
    grep -aE '^[a-z-]+: |ERROR|Fatal error|Test unit written' "$log" | head -5
    return 1
  fi
}

# What a person wrote (seed-*) stays; of what was found, the smallest that together reach the most.
keep() {
  local target name
  for target in $("$runner" --list); do
    rm -rf "$build/kept" && mkdir -p "$build/kept" "$build/corpus/$target"
    "$runner" "$target" -set_cover_merge=1 "$build/kept" "$corpus/$target" "$build/corpus/$target" 2>/dev/null
    find "$corpus/$target" -type f ! -name 'seed-*' -delete
    find "$build/kept" -type f -printf '%s %f\n' | sort -n | head -n "$most_kept" | cut -d' ' -f2 |
      while read -r name; do cp "$build/kept/$name" "$corpus/$target/$name"; done
    printf 'kept: %-20s %s inputs\n' "$target" "$(find "$corpus/$target" -type f | wc -l)"
  done
}

goal=${1:?usage: Scripts/fuzz.sh SECONDS [TARGET...] | --keep}
shift
compile
if [ "$goal" = --keep ]; then
  keep
  exit
fi
mkdir -p "$build/found"
export -f fuzz
export build runner corpus most_at_once
# shellcheck disable=SC2046  # Names of targets have no spaces.
printf '%s\0' ${*:-$("$runner" --list)} | xargs -0 -P 2 -I NAME bash -c "fuzz NAME $goal"
