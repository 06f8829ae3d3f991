#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures haul against curl, openssl and dd, all on this machine, with an nginx of its own on loopback.

Whole processes are measured (start to end, all threads), entries in turn, after one warm-up each. Every output is
compared with the original on the warm-up and in the last round. Needs nginx, curl, openssl and cmp; Python 3.9 or
newer, nothing else.

Exit status: 0 everything measured and right (goals may be missed: the table says so), 1 a command failed or gave wrong
bytes, 2 the benchmark could not start.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

from benchlib.measure import Entry, Failure, first_line, floor, measure_in_turn, quiet_environment  # noqa: E402
from benchlib.nginx import Nginx  # noqa: E402
from benchlib.report import Goal, Group, as_data, machine_facts, markdown, ratio  # noqa: E402

BLOCK = 1 << 20
LARGE_FACTOR = 8
# A start takes milliseconds: only many of them tell anything.
VERSION_ROUNDS = 200
LARGE_GROUPS = ("durable", "long")


class Bench:
    """The files, the server and the commands; one method for each comparison."""

    def __init__(self, haul, size, folder, server):
        self.haul = haul
        self.size = size
        self.folder = folder
        self.server = server
        self.small = folder / "www" / "small"
        self.large = folder / "www" / "large"
        self.small_digest = None
        self.large_digest = None

    # --- Files ---

    def make_small(self):
        """Random, so that nothing on the way can compress it; just written, so that it is in the page cache."""
        digest = hashlib.sha256()
        with open(self.small, "wb") as file:
            for start in range(0, self.size, BLOCK):
                block = os.urandom(min(BLOCK, self.size - start))
                digest.update(block)
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
        self.small_digest = digest.hexdigest()

    def make_large(self):
        """All holes: it costs no disk to read, so the runs measure the downloader and the disk that it writes to."""
        with open(self.large, "wb") as file:
            file.truncate(self.size * LARGE_FACTOR)
        digest, zeros = hashlib.sha256(), bytes(BLOCK)
        for start in range(0, self.size * LARGE_FACTOR, BLOCK):
            digest.update(zeros[: self.size * LARGE_FACTOR - start])
        self.large_digest = digest.hexdigest()

    def touch_memory(self):
        """Writes and removes a file as large as the small one, so that the page cache of the next run takes memory
        that was just in use. In a virtual machine memory that has lain idle is handed out by the host page by page,
        which costs more than everything measured here, and costs whoever happens to come first."""
        path = self.folder / "touch"
        block = bytes(1 << 20)
        with open(path, "wb", buffering=0) as file:
            for _ in range(self.size // len(block) + 64):
                file.write(block)
        path.unlink()

    # --- Entries ---

    def writes(self, name, original, make_command):
        """An entry that writes a file, which must equal the original."""
        output = self.folder / "out"
        # What haul keeps of an unfinished download: nothing of it may be left after a finished one.
        sidecars = [self.folder / "out.haul", self.folder / "out.haul-part"]

        def glance():
            if not output.is_file():
                raise Failure("no output file")
            if output.stat().st_size != original.stat().st_size:
                raise Failure(f"wrong size: {output.stat().st_size} for {original.stat().st_size}")
            for sidecar in sidecars:
                if sidecar.exists():
                    raise Failure(f"{sidecar.name} left behind")

        def check(_):
            if subprocess.run(["cmp", "-s", str(output), str(original)], check=False).returncode != 0:
                raise Failure("WRONG BYTES: the output differs from the original")

        def clean():
            for path in [output] + sidecars:
                path.unlink(missing_ok=True)

        prepare = self.touch_memory if original == self.small else lambda: None
        return Entry(name, make_command(str(output)), check, glance, prepare, clean)

    def haul_entry(self, name, original, url, *options):
        return self.writes(name, original, lambda output: [self.haul, *options, "-o", output, url])

    def curl_entry(self, name, original, url, *options):
        # -q: whatever stands in a ~/.curlrc stays out of this.
        command = ["curl", "-q", "-s", "-f", *options]
        return self.writes(name, original, lambda output: [*command, "-o", output, url])

    def openssl_entry(self, path, digest):
        def check(output):
            if digest not in output.decode(errors="replace"):
                raise Failure("WRONG DIGEST")

        return Entry("openssl dgst -sha256 FILE", ["openssl", "dgst", "-sha256", str(path)], check)

    def version_entry(self, program, name):
        def check(output):
            if not output.strip():
                raise Failure("printed nothing")

        return Entry(f"{name} --version", [program, "--version"], check)

    # --- Comparisons ---

    def plain(self):
        url = self.server.url("small")
        haul = self.haul_entry("haul --no-sync --no-digest", self.small, url, "--no-sync", "--no-digest")
        curl = self.curl_entry("curl -o", self.small, url)
        return "The bytes alone: {small}, plain HTTP", [haul, curl], lambda: [
            Goal("wall, haul / curl", ratio(haul.median("wall"), curl.median("wall")), 0.75),
            Goal("CPU, haul / curl", ratio(haul.median("cpu"), curl.median("cpu")), 0.85),
        ]

    def digest(self):
        url, options = self.server.url("small"), ("--no-sync", "--sha256", self.small_digest)
        haul = self.haul_entry("haul --no-sync --sha256", self.small, url, *options)
        openssl = self.openssl_entry(self.small, self.small_digest)
        return "Verified: {small}, plain HTTP, against the digest of a local file", [haul, openssl], lambda: [
            Goal("wall, haul / openssl", ratio(haul.median("wall"), openssl.median("wall")), 1.25),
        ]

    def tls(self):
        url, trust = self.server.tls_url("small"), ("--cacert", str(self.server.certificate))
        options = (*trust, "--no-sync", "--sha256", self.small_digest)
        haul = self.haul_entry("haul --no-sync --sha256 (TLS)", self.small, url, *options)
        curl = self.curl_entry("curl -o (TLS), no digest", self.small, url, *trust)
        return "Verified over TLS: {small}, against curl without any digest", [haul, curl], lambda: [
            Goal("wall, haul / curl", ratio(haul.median("wall"), curl.median("wall")), 1.2),
        ]

    def durable(self):
        url, options = self.server.url("large"), ("--sha256", self.large_digest)
        haul = self.haul_entry("haul --sha256", self.large, url, *options)
        blocks = self.size * LARGE_FACTOR // BLOCK
        dd = self.writes("dd bs=1M conv=fsync", self.large, lambda output: [
            "dd", "if=/dev/zero", f"of={output}", "bs=1048576", f"count={blocks}", "conv=fsync", "status=none"])
        openssl = self.openssl_entry(self.large, self.large_digest)

        def goals():
            sides = [dd.median("wall"), openssl.median("wall")]
            slower = None if None in sides else max(sides)
            return [Goal("wall, haul / the larger of dd and openssl", ratio(haul.median("wall"), slower), 1.15)]

        return "Durable and verified: {large}", [haul, dd, openssl], goals

    def long(self):
        small_url, large_url = self.server.url("small"), self.server.url("large")
        name, options = "haul --no-sync --no-digest", ("--no-sync", "--no-digest")
        haul_small = self.haul_entry(name + ", {small}", self.small, small_url, *options)
        haul = self.haul_entry(name + ", {large}", self.large, large_url, *options)
        # No goal: it shows what this machine's disk does to anybody's file of this size.
        curl = self.curl_entry("curl -o, {large}", self.large, large_url)

        def goals():
            one = haul_small.median("wall")
            eight = None if one is None else LARGE_FACTOR * one
            return [
                Goal(f"wall, {{large}} / {LARGE_FACTOR} x {{small}}", ratio(haul.median("wall"), eight), 1.1),
                Goal("wall, haul / curl", ratio(haul.median("wall"), curl.median("wall"))),
            ]

        return "Size changes nothing: {large}, the bytes alone", [haul_small, haul, curl], goals

    def version(self):
        haul, curl = self.version_entry(self.haul, "haul"), self.version_entry("curl", "curl")
        return "Start to end of a command that does nothing", [haul, curl], lambda: [
            Goal("wall, haul / curl", ratio(haul.median("wall"), curl.median("wall")), 1.6),
        ]


COMPARISONS = ("plain", "digest", "tls", "durable", "long", "version")


def parse_size(text):
    match = re.fullmatch(r"(\d+)([KMG]?)", text.upper())
    if not match:
        raise argparse.ArgumentTypeError(f"not a size: {text} (for example 256M or 1G)")
    size = int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[match[2]]
    if size == 0 or size % BLOCK:
        raise argparse.ArgumentTypeError("the size must be a multiple of 1M")
    return size


def readable(size):
    return f"{size >> 30} GiB" if size % (1 << 30) == 0 else f"{size >> 20} MiB"


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--haul", default="haul", metavar="PATH", help="the binary to measure (haul)")
    add("--rounds", type=int, default=5, metavar="N", help="measured rounds, after one warm-up (5)")
    add("--size", type=parse_size, default=1 << 30, metavar="SIZE",
        help=f"of the small file (1G); the large one has {LARGE_FACTOR} times this")
    add("--skip-8g", action="store_true",
        help="leave out what needs the large file: " + ", ".join(LARGE_GROUPS))
    add("--only", action="append", choices=COMPARISONS, metavar="NAME",
        help="only this comparison (may be repeated): " + ", ".join(COMPARISONS))
    add("--dir", default="/var/tmp", help="where to make the temporary folder: a real disk (/var/tmp)")
    add("--json", metavar="FILE", help="write every run here")
    add("--markdown", metavar="FILE", help="write the tables here, too")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    return options


def selected(options):
    names = [name for name in COMPARISONS if options.only is None or name in options.only]
    return [name for name in names if not (options.skip_8g and name in LARGE_GROUPS)]


def refuse_if_unfit(options, names):
    """Says what stands in the way before anything is made; returns the full path of haul."""
    haul = shutil.which(options.haul)
    if haul is None:
        stop(f"no such program: {options.haul} (make build leaves one in dist/haul)")
    for tool in ("nginx", "curl", "openssl", "cmp", "dd"):
        if shutil.which(tool) is None:
            stop(f"{tool} is missing (Scripts/deps.sh bench installs it)")
    if not names:
        stop("nothing left to measure")
    # The large original is all holes; only one output exists at a time.
    output = options.size * (LARGE_FACTOR if set(names) & set(LARGE_GROUPS) else 1)
    needed = int((options.size + output) * 1.05) + (64 << 20)
    try:
        free = shutil.disk_usage(options.dir).free
    except OSError as error:
        stop(f"{options.dir}: {error.strerror}")
    if free < needed:
        stop(f"{options.dir} has {readable(free >> 20 << 20)} free, and {readable(needed >> 20 << 20)} are needed "
             "(--dir, --size or --skip-8g help)")
    return os.path.abspath(haul)


def stop(message):
    print(f"loopback: {message}", file=sys.stderr)
    sys.exit(2)


def show_progress(text):
    """One line that renews itself; nothing where nobody watches."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def notes_of(options, least):
    notes = [
        "Before each run that writes 1 GiB, a file of that size was written and removed, so that the machine's memory "
        "was in use (see `touch_memory` in Benchmarks/loopback.py).",
        f"Medians, in brackets least and most; {options.rounds} rounds in turn after a warm-up "
        f"({VERSION_ROUNDS} for `--version`). CPU is user and system time of all threads.",
        f"A process that does nothing measures {least.wall * 1000:.1f} ms and {least.peak / 2**20:.0f} MiB here: "
        "smaller peaks cannot be told.",
    ]
    if options.rounds < 5:
        notes.append("Fewer than 5 rounds: good for trying the benchmark out, not for a claim.")
    return notes


def measure(options, names, haul, folder):
    """Runs the comparisons; returns their groups and what a process costs that does nothing."""
    (folder / "www").mkdir()
    environment = quiet_environment(folder)
    with Nginx(folder, folder / "www") as server:
        bench = Bench(haul, options.size, folder, server)
        show_progress("making the files")
        bench.make_small()
        if set(names) & set(LARGE_GROUPS):
            bench.make_large()
        sizes = {"small": readable(options.size), "large": readable(options.size * LARGE_FACTOR)}
        groups = []
        for name in names:
            title, entries, goals = getattr(bench, name)()
            for entry in entries:
                entry.name = entry.name.format(**sizes)
            rounds = VERSION_ROUNDS if name == "version" else options.rounds
            measure_in_turn(entries, rounds, environment, folder, lambda text: show_progress(f"{name}, {text}"))
            measured = goals()
            for goal in measured:
                goal.what = goal.what.format(**sizes)
            groups.append(Group(name, title.format(**sizes), entries, measured))
    # At the end, when this process, which sets the floor, is as large as it gets.
    return groups, floor(environment, folder)


def main():
    options = arguments()
    names = selected(options)
    haul = refuse_if_unfit(options, names)
    with tempfile.TemporaryDirectory(prefix="haul-bench-", dir=options.dir) as folder:
        try:
            groups, least = measure(options, names, haul, Path(folder).resolve())
        except RuntimeError as error:
            stop(str(error))
    show_progress("")
    facts = dict(machine_facts(options.dir), haul=first_line([haul, "--version"]))
    report = markdown(groups, facts, notes_of(options, least), least.peak)
    print(report, end="")
    if options.markdown:
        Path(options.markdown).write_text(report, encoding="utf-8")
    if options.json:
        Path(options.json).write_text(json.dumps(as_data(groups, facts), indent=2) + "\n", encoding="utf-8")
    return 1 if any(entry.failure for group in groups for entry in group.entries) else 0


if __name__ == "__main__":
    # An exit like any other: nginx is stopped and the folder removed on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        # The folder and nginx are gone already: the blocks that own them were left in order.
        sys.exit(130)
