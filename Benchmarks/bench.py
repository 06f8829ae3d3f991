#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures haul against other downloaders on this machine, and writes one dated folder under Benchmarks/Runs.

Entries of a scenario run in turn (A B C, A B C, …) after one warm-up each, as whole processes; every output is compared
with the original. Failures and wrong results stand in the tables as such.

Exit status: 0 everything was measured (goals may be missed: the tables say so), 1 haul failed or gave wrong bytes,
2 the benchmark could not start.
"""

import argparse
import datetime
import json
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

from benchlib import link, loopback, scenarios  # noqa: E402
from benchlib.measure import first_line, floor, measure_in_turn, quiet_environment  # noqa: E402
from benchlib.nginx import Nginx  # noqa: E402
from benchlib.plot import times_plot, connections_plot  # noqa: E402
from benchlib.report import Group, json_lines, machine_facts, markdown  # noqa: E402
from benchlib.tools import Tools  # noqa: E402

HERE = Path(__file__).resolve().parent
NAMES = (*loopback.COMPARISONS, *scenarios.NAMES)
QUICK = ("plain", "digest", "cap", "few", "version")
QUICK_SCALE = 0.1


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--haul", default="haul", metavar="PATH", help="the binary to measure (haul)")
    add("--rounds", type=int, metavar="N", help="measured rounds, after one warm-up (5; 3 with --quick)")
    add("--quick", action="store_true", help="smaller files, only: " + ", ".join(QUICK))
    add("--scale", type=float, metavar="F", help="size of all files by this factor (1; 0.1 with --quick)")
    add("--only", action="append", choices=NAMES, metavar="NAME",
        help="only this scenario (may be repeated): " + ", ".join(NAMES))
    add("--tools", metavar="DIR", help="look for tools here first: the bin folder of a virtual environment")
    add("--link", default=str(HERE / ".build/release/haul-link"), metavar="PATH", help="the emulated link's program")
    add("--dir", default="/var/tmp", help="where to make the temporary folder: a real disk (/var/tmp)")
    add("--out", metavar="DIR", help="where to write results (Benchmarks/Runs/DATE)")
    options = parser.parse_args()
    options.rounds = options.rounds or (3 if options.quick else 5)
    options.scale = options.scale or (QUICK_SCALE if options.quick else 1.0)
    if options.rounds < 1 or not 0 < options.scale <= 1:
        parser.error("--rounds must be at least 1, and --scale above 0 and at most 1")
    return options


def selected(options):
    """The scenarios that can run here; one line says which cannot."""
    names = [name for name in options.only or (QUICK if options.quick else NAMES)]
    why = link.why_not()
    if why is None and not Path(options.link).exists():
        why = f"there is no {options.link} (make bench builds it)"
    skipped = [name for name in names if name in scenarios.ON_LINKS]
    if why and skipped:
        print(f"bench: skipped, {why}: {', '.join(skipped)}", file=sys.stderr)
        names = [name for name in names if name not in skipped]
    return names


def refuse_if_unfit(options, names):
    haul = shutil.which(options.haul)
    if haul is None:
        stop(f"no such program: {options.haul} (make build leaves one in dist/haul)")
    for tool in ("nginx", "curl", "openssl", "dd"):
        if shutil.which(tool) is None:
            stop(f"{tool} is missing (Scripts/deps.sh bench installs it)")
    if not names:
        stop("nothing left to measure")
    output = loopback.size_of(options.scale) * (loopback.LARGE_FACTOR if set(names) & set(loopback.LARGE_GROUPS) else 1)
    needed = int((loopback.size_of(options.scale) + output) * 1.05) + (512 << 20)
    try:
        free = shutil.disk_usage(options.dir).free
    except OSError as error:
        stop(f"{options.dir}: {error.strerror}")
    if free < needed:
        stop(f"{options.dir} has {free >> 20} MiB free, and {needed >> 20} MiB are needed (--dir or --scale help)")
    return os.path.abspath(haul)


def stop(message):
    print(f"bench: {message}", file=sys.stderr)
    sys.exit(2)


def show_progress(text):
    """One line that renews itself; nothing where nobody watches."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def measure_loopback(options, names, haul, folder, environment):
    """The comparisons of the engine's own cost."""
    if not names:
        return
    with Nginx(folder, folder / "www") as server:
        bench = loopback.Loopback(haul, loopback.size_of(options.scale), folder, server)
        show_progress("making the files")
        bench.make_small()
        if set(names) & set(loopback.LARGE_GROUPS):
            bench.make_large()
        sizes = bench.sizes
        for name in names:
            title, entries, goals = getattr(bench, name)()
            for entry in entries:
                entry.name = entry.name.format(**sizes)
            rounds = loopback.VERSION_ROUNDS if name == "version" else options.rounds
            measure_in_turn(entries, rounds, environment, folder, lambda text: show_progress(f"{name}, {text}"))
            measured = goals()
            for goal in measured:
                goal.what = goal.what.format(**sizes)
            yield Group(name, title.format(**sizes), entries, measured)


def measure_scenarios(options, names, tools, folder, environment):
    bench = scenarios.Bench(tools, folder, options.link, options.scale)
    for name in names:
        with scenarios.scenario(bench, name) as group:
            measure_in_turn(
                group.entries, options.rounds, environment, folder, lambda text: show_progress(f"{name}, {text}"))
            group.goals = group.goals()
        yield group


def notes_of(options, least):
    notes = [
        "Before each run that writes a file of the loopback comparisons, a file of that size was written and removed, "
        "so that the machine's memory was in use (see `touch_memory` in Benchmarks/benchlib/loopback.py).",
        f"Medians, in brackets least and most; {options.rounds} rounds in turn after a warm-up "
        f"({loopback.VERSION_ROUNDS} for `--version`). CPU is user and system time of all threads. Every output was "
        "compared with the original.",
        f"A process that does nothing measures {least.wall * 1000:.1f} ms and {least.peak / 2**20:.0f} MiB here: "
        "smaller peaks cannot be told.",
    ]
    if options.scale < 1:
        notes.append(f"All files have {options.scale:g} times their full size: good for trying out, not for a claim.")
    if options.rounds < 5:
        notes.append("Fewer than 5 rounds: good for trying the benchmark out, not for a claim.")
    return notes


def write_results(out, groups, facts, notes, least):
    out.mkdir(parents=True, exist_ok=True)
    report = markdown(groups, facts, notes, least.peak)
    (out / "table.md").write_text(report, encoding="utf-8")
    lines = json_lines(groups, facts)
    (out / "runs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    for name, plot in (("times.svg", times_plot(groups)), ("connections.svg", connections_plot(groups))):
        if plot is not None:
            (out / name).write_text(plot, encoding="utf-8")
    print(report, end="")
    print(f"\nwritten to {out}", file=sys.stderr)


def main():
    options = arguments()
    names = selected(options)
    haul = refuse_if_unfit(options, names)
    tools = Tools(haul, options.tools)
    groups = []
    with tempfile.TemporaryDirectory(prefix="haul-bench-", dir=options.dir) as folder:
        folder = Path(folder).resolve()
        (folder / "www").mkdir()
        environment = quiet_environment(folder)
        try:
            groups += measure_loopback(
                options, [name for name in names if name in loopback.COMPARISONS], haul, folder, environment)
            groups += measure_scenarios(
                options, [name for name in names if name in scenarios.NAMES], tools, folder, environment)
        except RuntimeError as error:
            stop(str(error))
        # At the end, when this process, which sets the floor, is as large as it gets.
        least = floor(environment, folder)
    show_progress("")
    facts = dict(machine_facts(options.dir), haul=first_line([haul, "--version"]), **tools.versions(first_line))
    out = Path(options.out) if options.out else HERE / "Runs" / datetime.date.today().isoformat()
    write_results(out, groups, facts, notes_of(options, least), least)
    ours = [entry for group in groups for entry in group.entries if entry.name.startswith("haul")]
    return 1 if any(entry.failure for entry in ours) else 0


if __name__ == "__main__":
    # An exit like any other: servers are stopped and the folder removed on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        # The folder and the servers are gone already: the blocks that own them were left in order.
        sys.exit(130)
