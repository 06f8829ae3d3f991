#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the tests below the command under a sanitizer, each in a build folder of its own.
#
#   Scripts/sanitize.sh thread [SUITE...]       data races
#   Scripts/sanitize.sh address [SUITE...]      memory errors in C and in what Swift does with pointers
#   Scripts/sanitize.sh thread address          both, all suites

set -uo pipefail
cd "$(dirname "$0")/.."

# The command's own tests run the release way, as a process; there is nothing in them that these have not.
all_suites="HaulCoreTests HaulDiskTests HaulDigestTests HaulTransportTests HaulOriginTests HaulTests"
# Fewer seeds: everything is five to fifteen times slower here.
export HAUL_SEEDS=${HAUL_SEEDS:-100}
# Swift's own report of a crash would hide the sanitizer's.
export SWIFT_BACKTRACE=enable=no
export TSAN_OPTIONS="halt_on_error=0 exitcode=66 ${TSAN_OPTIONS:-}"
# Leaks are looked for where a process ends in order, which a test runner does not.
export ASAN_OPTIONS="detect_leaks=0 ${ASAN_OPTIONS:-}"

kinds=()
suites=()
for word; do
  case $word in
    thread | address) kinds+=("$word") ;;
    *) suites+=("$word") ;;
  esac
done
[ ${#kinds[@]} -gt 0 ] || { sed -n 's/^# \{0,1\}//; 5,9p' "$0"; exit 64; }
[ ${#suites[@]} -gt 0 ] || read -ra suites <<<"$all_suites"

failed=0
for kind in "${kinds[@]}"; do
  flags=(--sanitize="$kind" --scratch-path ".build-$kind")
  # XCTest's runner has faults of its own under AddressSanitizer, and no test here needs it.
  [ "$kind" = address ] && flags+=(--disable-xctest)
  # shellcheck disable=SC2086  # SWIFT_JOBS is two words.
  swift build --build-tests "${flags[@]}" ${SWIFT_JOBS:-} || exit
  for suite in "${suites[@]}"; do
    printf 'sanitize: %s, %s\n' "$kind" "$suite"
    # With servers in them, one after the other: together they are so slow that limits of time would decide.
    order=--parallel
    [ "$suite" = HaulTests ] && order=--no-parallel
    swift test --skip-build "$order" "${flags[@]}" --filter "^$suite\\." || failed=1
  done
done
exit $failed
