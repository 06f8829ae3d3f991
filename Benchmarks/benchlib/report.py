# SPDX-License-Identifier: Apache-2.0
"""The tables: readable on a terminal, and Markdown at the same time; and the raw runs as JSON."""

import datetime
import os
import platform
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import List, Optional

from .measure import Entry, first_line


@dataclass
class Goal:
    """A ratio of two figures, and the most that it may be."""

    what: str
    ratio: Optional[float]  # None where a side was not measured
    limit: Optional[float] = None  # None where the ratio only helps to read the others

    @property
    def verdict(self):
        if self.ratio is None:
            return "not measured"
        if self.limit is None:
            return ""
        return "met" if self.ratio <= self.limit else "MISSED"


@dataclass
class Group:
    """Entries that were measured in turn, and what they are compared for."""

    name: str
    title: str
    entries: List[Entry]
    goals: List[Goal]
    # The least time in seconds that the path itself allows, and what that is; None where nothing does.
    limit: Optional[float] = None
    limit_name: str = ""
    # How long the file is that every entry fetches, where goodput is of interest.
    bytes: Optional[int] = None


def ratio(above, below):
    return above / below if above is not None and below else None


def table(header, rows):
    """A Markdown table with padded cells; the first column to the left, figures to the right."""
    widths = [max(len(row[column]) for row in [header] + rows) for column in range(len(header))]

    def line(cells):
        figures = [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:])]
        return "| " + " | ".join([cells[0].ljust(widths[0])] + figures) + " |"

    rule = ["-" * widths[0]] + ["-" * (width - 1) + ":" for width in widths[1:]]
    return "\n".join([line(header), line(rule)] + [line(row) for row in rows])


def spread(values, unit):
    """Median, and least to most."""
    scale, digits = (1000, 1) if unit == "ms" else (1, 2)
    figures = [statistics.median(values), min(values), max(values)]
    middle, least, most = (f"{figure * scale:.{digits}f}" for figure in figures)
    return f"{middle} {unit} ({least}–{most})"


def entry_row(entry, least_peak):
    name = f"`{entry.name}`"
    if entry.absent is not None:
        return [name, "– " + entry.absent, "", "", "0"]
    if entry.failure is not None:
        return [name, "FAILED: " + entry.failure.replace("|", "/"), "", "", str(len(entry.samples))]
    unit = "ms" if entry.median("wall") < 0.1 else "s"
    peak = max(entry.values("peak"))
    # A process is never reported smaller than the one that started it: see measure.floor.
    shown = f"{'≤ ' if peak <= least_peak else ''}{peak / 2**20:.0f} MiB"
    figures = [spread(entry.values(what), unit) for what in ("wall", "cpu")]
    return [name, *figures, shown, str(len(entry.samples))]


def _figure(value, before=""):
    return "–" if value is None else f"{before}{value:.2f}"


def markdown(groups, facts, notes, least_peak):
    """The whole report. Peaks up to `least_peak` bytes say nothing about the process itself."""
    parts = ["\n".join(f"- {key}: {value}" for key, value in facts.items() if value)]
    for group in groups:
        rows = [entry_row(entry, least_peak) for entry in group.entries]
        part = f"### {group.title}\n\n" + table(["command", "wall", "CPU", "peak memory", "runs"], rows)
        if group.limit is not None:
            part += f"\n\nPhysical limit: {group.limit:.2f} s ({group.limit_name})."
        if group.goals:
            goals = [
                [goal.what, _figure(goal.ratio), _figure(goal.limit, "≤ "), goal.verdict] for goal in group.goals
            ]
            part += "\n\n" + table(["ratio of medians", "measured", "goal", ""], goals)
        parts.append(part)
    parts.append("\n".join(notes))
    return "\n\n".join(parts) + "\n"


def json_lines(groups, facts):
    """The same for machines, one object a line, every single run: Benchmarks/schema.json says what is in them."""
    yield {"type": "facts", "format": 1, "facts": {key: value for key, value in facts.items() if value}}
    for group in groups:
        yield {"type": "scenario", "scenario": group.name, "title": group.title, "limit": group.limit,
               "limit_name": group.limit_name}
        for entry in group.entries:
            for number, sample in enumerate(entry.samples, 1):
                yield {"type": "run", "scenario": group.name, "entry": entry.name, "round": number, **vars(sample)}
            if entry.failure or entry.absent:
                yield {"type": "failure" if entry.failure else "absent", "scenario": group.name, "entry": entry.name,
                       "why": entry.failure or entry.absent}
        for goal in group.goals:
            yield {"type": "ratio", "scenario": group.name, "what": goal.what, "ratio": goal.ratio,
                   "goal": goal.limit, "verdict": goal.verdict}


def machine_facts(folder):
    """What the figures depend on; nothing that tells whose machine it is."""
    return {
        "date": datetime.date.today().isoformat(),
        "machine": f"{_processor()}, {_cores()} cores, {_memory()}",
        "system": f"{_system()}, kernel {platform.release()}, {_filesystem(folder)}",
        "curl": " ".join(first_line(["curl", "--version"]).split()[:2]),
        "OpenSSL": first_line(["openssl", "version"]),
        "server": first_line(["nginx", "-v"]).replace("nginx version: ", ""),
    }


def _cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _processor():
    for line in _lines("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _memory():
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB of memory"


def _system():
    for line in _lines("/etc/os-release"):
        if line.startswith("PRETTY_NAME="):
            return line.split("=", 1)[1].strip().strip('"')
    return f"{platform.system()} {platform.mac_ver()[0]}".strip()


def _filesystem(folder):
    """The type of the filesystem that the folder lies on: the one with the longest mount point above it."""
    folder, best = str(Path(folder).resolve()), ("", "unknown filesystem")
    for line in _lines("/proc/self/mounts"):
        _, point, kind = line.split()[:3]
        if (folder + "/").startswith(point.rstrip("/") + "/") and len(point) >= len(best[0]):
            best = (point, kind)
    return best[1]


def _lines(path):
    try:
        return Path(path).read_text(errors="replace").splitlines()
    except OSError:
        return []
