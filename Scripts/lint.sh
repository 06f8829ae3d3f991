#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The checks that need no build. Says every finding, not only the first; fails if there was one.

set -uo pipefail
cd "$(dirname "$0")/.."

failed=0
check() {
  local name=$1 findings
  shift
  if findings=$("$@" 2>&1) && [ -z "$findings" ]; then
    printf 'lint: %-22s ok\n' "$name"
  else
    printf 'lint: %-22s FAILED\n%s\n' "$name" "$findings"
    failed=1
  fi
}

# Files that git would commit, so that neither build folders nor leftovers count; without git (an unpacked archive),
# everything outside of hidden folders.
project_files() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files -z --cached --others --exclude-standard
  else
    find . -type d \( -name '.build*' -o -name dist -o -name .git \) -prune -o -type f -print0
  fi
}

swift_format() {
  Scripts/swift-files.sh | xargs -0 swift format lint --strict
}

shell_syntax() {
  local file
  for file in Scripts/*.sh .ci/run; do bash -n "$file"; done
}

# shellcheck is used where it is installed, and not asked for.
shell_check() {
  if command -v shellcheck >/dev/null; then shellcheck Scripts/*.sh .ci/run; fi
}

check "swift format" swift_format
check "shell syntax" shell_syntax
check "shellcheck" shell_check
check "text, links, version" python3 -B Scripts/lint_text.py < <(project_files)

exit $failed
