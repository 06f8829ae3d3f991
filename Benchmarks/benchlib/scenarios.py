# SPDX-License-Identifier: Apache-2.0
"""The comparisons with other downloaders: servers that limit, and paths that are long, lossy or slow.

A scenario is a context manager that yields a Group while its server, and its link, are there.
"""

import contextlib
from pathlib import Path

from .files import ManyOutputs, Outputs, make_random
from .link import SERVER_ADDRESS, Link, Shape
from .nginx import Nginx
from .report import Goal, Group, ratio

MB = 1_000_000
# A path of a far away server: what the ratios of the scheduler's goals are about.
FAR = {"rate": 200e6, "delay": 0.04}
ACCELERATORS = ("aria2 -x16", "axel -n16", "aria2-next", "aria2-next -x32")
EVERYBODY = ("curl", *ACCELERATORS, "wget2", "lftp -n16", "rclone", "hf-transfer")


class Bench:
    """What all scenarios share: the tools, the folder, how large files are."""

    def __init__(self, tools, folder, link_program, scale=1.0):
        self.tools = tools
        self.folder = folder
        self.www = folder / "www"
        self.link_program = link_program
        self.scale = scale

    def file(self, megabytes):
        """An original of about so many MB, made once."""
        size = max(1, int(megabytes * MB * self.scale))
        path = self.www / f"random-{size}"
        return path if path.exists() else make_random(path, size)

    def entry(self, tool, original, url, inside=(), prepare=lambda: None, name=None, time_limit=300.0):
        output = Outputs(self.folder / "out", original)
        command = self.tools.one(tool, url, output.path)
        entry = output.entry(name or tool, [*inside, *(command or [])], prepare)
        entry.time_limit = time_limit
        if command is None:
            entry.absent = "not installed"
        return entry

    def entries(self, tools, original, url, inside=(), prepare=lambda: None):
        return [self.entry(tool, original, url, inside, prepare) for tool in ("haul --no-sync", *tools)]


def best(entries):
    """The smallest median of several entries, and whose it is."""
    medians = [(entry.median("wall"), entry.name) for entry in entries if entry.median("wall") is not None]
    return min(medians, default=(None, "no peer"))


def against_the_best(entries, limit):
    """Goals: the first entry against the best of the others."""
    def goals():
        seconds, name = best(entries[1:])
        return [Goal(f"wall, haul / the best peer ({name})", ratio(entries[0].median("wall"), seconds), limit)]
    return goals


# --- Servers that limit ---

CAP = "sendfile_max_chunk 64k; limit_rate 8m;"
FEW = "sendfile_max_chunk 64k; limit_rate 16m; limit_conn connections 4; limit_conn_status 503;"
ONE_SLOW = "sendfile_max_chunk 64k; limit_rate $pace;"


@contextlib.contextmanager
def cap(bench):
    original = bench.file(100)
    with Nginx(bench.folder, bench.www, CAP) as server:
        entries = bench.entries(EVERYBODY, original, server.url(original.name))
        yield Group("cap", "8 MB/s a connection (100 MB, loopback)", entries, against_the_best(entries, 1.02))


@contextlib.contextmanager
def few(bench):
    original = bench.file(100)
    with Nginx(bench.folder, bench.www, FEW) as server:
        entries = bench.entries(EVERYBODY, original, server.url(original.name))
        yield Group("few", "4 connections allowed, else 503; 16 MB/s each (100 MB, loopback)", entries,
                    against_the_best(entries, 1.02))


@contextlib.contextmanager
def one_slow(bench):
    """One connection at 400 B/s among healthy ones of 8 MB/s: the third that a tool opens."""
    original = bench.file(100)
    # Two connections are the benchmark's own, which look whether the server is there.
    with Nginx(bench.folder, bench.www, ONE_SLOW, slow=5) as server:
        url = server.url(original.name)
        entries = bench.entries(ACCELERATORS, original, url, prepare=server.restart)
        # A server of the same rates in which nobody's connection is slow.
        with Nginx(_subfolder(bench.folder, "healthy"), bench.www, CAP) as healthy:
            entries.append(bench.entry(
                "haul --no-sync", original, healthy.url(original.name), name="haul --no-sync, all healthy"))

            def goals():
                one, seconds = entries[0].median("wall"), entries[-1].median("wall")
                return [Goal("wall, haul / haul with all healthy", ratio(one, seconds), 1.3)]

            yield Group("one-slow", "one connection at 400 B/s, the others 8 MB/s (100 MB, loopback)", entries, goals)


# --- Paths ---


@contextlib.contextmanager
def path(bench, name, title, shape, megabytes, tools, goal):
    """One file over an emulated link."""
    original = bench.file(megabytes)
    with Link(bench.link_program, shape) as link, \
            Nginx(bench.folder, bench.www, address=SERVER_ADDRESS, inside=link.inside(link.server, [])) as server:
        inside = link.inside(link.client, [])
        entries = bench.entries(tools, original, server.url(original.name), inside)
        size = original.stat().st_size
        yield Group(name, title, entries, against_the_best(entries, goal),
                    size * 8 / shape.rate + 6 * shape.delay, "the link's rate and three round trips")


@contextlib.contextmanager
def many(bench):
    """200 files of 64 KiB, 16 at once where the tool can."""
    originals = []
    (bench.www / "many").mkdir(exist_ok=True)
    for number in range(max(4, int(200 * bench.scale))):
        path_ = bench.www / "many" / f"file-{number:03}"
        originals.append(path_ if path_.exists() else make_random(path_, 64 << 10))
    with Link(bench.link_program, Shape(**FAR)) as link, \
            Nginx(bench.folder, bench.www, address=SERVER_ADDRESS, inside=link.inside(link.server, [])) as server:
        inside = link.inside(link.client, [])
        urls = [server.url(f"many/{path_.name}") for path_ in originals]
        url_list = bench.folder / "urls"
        url_list.write_text("\n".join(urls) + "\n", encoding="utf-8")
        outputs = ManyOutputs(bench.folder / "many-out", originals)
        entries = []
        for tool in ("haul --no-sync", "haul", "curl", "aria2 -j16", "aria2-next -j16", "wget2"):
            command = bench.tools.many(tool, urls, outputs.folder, url_list)
            entry = outputs.entry(tool, [*inside, *(command or [])])
            entry.absent = None if command else "not installed"
            entries.append(entry)

        def goals():
            seconds, name = best(entries[2:])
            return [Goal(f"wall, haul --no-sync / the best peer ({name})",
                         ratio(entries[0].median("wall"), seconds), 0.9)]

        yield Group("many", f"{len(originals)} files of 64 KiB over a path of 80 ms, 200 Mbit/s", entries, goals)


@contextlib.contextmanager
def connections(bench):
    """Goodput over connections on a lossy path: fixed counts, and Haul's own choice."""
    original = bench.file(20)
    with Link(bench.link_program, Shape(**FAR, loss=0.005)) as link, \
            Nginx(bench.folder, bench.www, address=SERVER_ADDRESS, inside=link.inside(link.server, [])) as server:
        inside, entries = link.inside(link.client, []), []
        for count in ("auto", "1", "2", "4", "8", "16", "32", "64"):
            entry = bench.entry("haul --no-sync", original, server.url(original.name), inside, name=f"haul -c {count}")
            entry.command += ["-c", count]
            entries.append(entry)

        def goals():
            seconds, name = best(entries[1:])
            return [Goal(f"wall, haul -c auto / the best fixed count ({name})",
                         ratio(entries[0].median("wall"), seconds), 1.1)]

        yield Group("connections", "goodput over connections: 20 MB, 0.5 % loss, 80 ms, 200 Mbit/s", entries, goals,
                    bytes=original.stat().st_size)


def _subfolder(folder, name):
    made = Path(folder) / name
    made.mkdir(exist_ok=True)
    return made


LOSSY = {"loss": 0.005}
LINKS = {
    "no-loss": ("no loss: 100 MB, 80 ms, 200 Mbit/s", Shape(**FAR), 100, EVERYBODY, 0.95),
    "loss-20": ("0.5 % loss: 20 MB, 80 ms, 200 Mbit/s", Shape(**FAR, **LOSSY), 20, EVERYBODY, 0.75),
    "loss-100": ("0.5 % loss: 100 MB, 80 ms, 200 Mbit/s", Shape(**FAR, **LOSSY), 100, ACCELERATORS, 0.85),
    "bbr": ("0.5 % loss, the server with bbr: 20 MB, 80 ms, 200 Mbit/s",
            Shape(**FAR, **LOSSY, congestion="bbr"), 20, EVERYBODY, None),
    "near": ("5 ms round trip: 100 MB, 200 Mbit/s", Shape(200e6, 0.0025), 100, EVERYBODY, None),
    "distant": ("200 ms round trip: 100 MB, 200 Mbit/s", Shape(200e6, 0.1), 100, EVERYBODY, None),
    "last-mile": ("a slow last mile: 20 MB, 20 Mbit/s, 40 ms", Shape(20e6, 0.02), 20, EVERYBODY, None),
    "small": ("a small file: 1 MiB, 80 ms, 200 Mbit/s", Shape(**FAR), 1.048576, EVERYBODY, 1.05),
}
SERVERS = {"cap": cap, "few": few, "one-slow": one_slow}
ON_LINKS = (*LINKS, "many", "connections")
NAMES = (*SERVERS, *ON_LINKS)


def scenario(bench, name):
    if name in SERVERS:
        return SERVERS[name](bench)
    if name in LINKS:
        title, shape, megabytes, tools, goal = LINKS[name]
        return path(bench, name, title, shape, megabytes, tools, goal)
    return {"many": many, "connections": connections}[name](bench)
