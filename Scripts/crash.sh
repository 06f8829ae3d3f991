#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Kills the real command, takes its power, and lets its system calls fail; Tests/Crash/checker.py compares what is left.
#
#   Scripts/crash.sh HAUL few                        the share of `make test`, under a minute
#   Scripts/crash.sh HAUL KILLS LOSSES               so many kills, so many power losses a filesystem, every fault
#
# Needs Python; faults and power losses need Linux and a C compiler, power losses root. What cannot be done here is said.

set -uo pipefail
cd "$(dirname "$0")/.."

haul=${1:?usage: Scripts/crash.sh HAUL few | KILLS LOSSES}
if ! command -v python3 >/dev/null; then
  echo "crash: no Python, so nothing from outside" >&2
  exit 0
fi
# No leftovers of compiled Python in the tree.
export PYTHONDONTWRITEBYTECODE=1
# Preloading a library is done otherwise on Apple's systems, and refused for many programs.
linux=
[ "$(uname -s)" = Linux ] && linux=yes

failed=0
run() { python3 "Tests/Crash/$1.py" "$haul" "${@:2}" || failed=1; }

run planted
if [ "$2" = few ]; then
  run kills 50
  [ -z "$linux" ] || run faults 6
else
  run kills "$2"
  if [ -n "$linux" ]; then
    run faults all
    run troubles
    run powerloss "$3" --filesystem ext4
    run powerloss "$3" --filesystem xfs
  else
    echo "crash: faults of system calls and power losses are for Linux only"
  fi
fi
exit $failed
