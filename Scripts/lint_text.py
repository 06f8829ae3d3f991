# SPDX-License-Identifier: Apache-2.0
"""Checks the text of the files whose names come in, NUL-separated, on standard input.

Prints one finding a line and exits 1 if there was any. Only what is cheap and never a matter of taste is checked here.
"""

import ast
import re
import sys
from pathlib import Path

SOURCE_SUFFIXES = {".swift", ".c", ".h", ".py", ".sh"}
TEXT_SUFFIXES = SOURCE_SUFFIXES | {".md", ".modulemap", ".json", ".1"}
# Beyond this a Swift file has more than one job.
SWIFT_LINES = 500
# swift format sees to the Swift files.
COLUMNS = 120
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def not_licensed(lines):
    return not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:3])


def findings_in(path, text):
    lines = text.split("\n")
    if path.suffix in SOURCE_SUFFIXES and not_licensed(lines):
        yield 1, "no SPDX line at the top"
    if text and not text.endswith("\n"):
        yield len(lines), "no newline at the end"
    for number, line in enumerate(lines, 1):
        if line.startswith(("<<<<<<< ", ">>>>>>> ")):
            yield number, "merge conflict left behind"
        if line != line.rstrip() and path.suffix in SOURCE_SUFFIXES:
            yield number, "space at the end of the line"
        if path.suffix == ".py" and len(line) > COLUMNS:
            yield number, f"more than {COLUMNS} columns"
        if "\t" in line and path.suffix in SOURCE_SUFFIXES:
            yield number, "tab"
    if path.suffix == ".swift" and len(lines) - 1 > SWIFT_LINES:
        yield len(lines), f"more than {SWIFT_LINES} lines: split it by its jobs"
    if path.suffix == ".py":
        try:
            ast.parse(text, str(path))
        except SyntaxError as error:
            yield error.lineno or 1, f"not Python: {error.msg}"
    if path.suffix == ".md":
        yield from broken_links(path, text)


def broken_links(path, text):
    # Code samples keep their length, so that line numbers stay true.
    prose = FENCE.sub(lambda match: "\n" * match.group().count("\n"), text)
    for number, line in enumerate(prose.split("\n"), 1):
        for target in LINK.findall(line):
            if ":" in target or (path.parent / target).exists():
                continue
            yield number, f"link to a file that is not there: {target}"


def version_findings():
    """The code names the version; the changelog must know it."""
    version_file = Path("Sources/Haul/HaulVersion.swift")
    match = re.search(r'static let current = "([^"]+)"', version_file.read_text())
    if not match:
        yield f"{version_file}: no line `static let current = \"…\"` (make package reads it)"
    elif f"## [{match.group(1)}]" not in Path("CHANGELOG.md").read_text():
        yield f"CHANGELOG.md: no section for version {match.group(1)}"


def main():
    found = list(version_findings())
    for name in sorted(set(filter(None, sys.stdin.buffer.read().split(b"\0")))):
        path = Path(name.decode())
        if path.suffix not in TEXT_SUFFIXES or not path.is_file():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            found.append(f"{path}: not UTF-8")
            continue
        found += [f"{path}:{number}: {message}" for number, message in findings_in(path, text)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
