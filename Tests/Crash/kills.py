# SPDX-License-Identifier: Apache-2.0
"""kill -9 of the real command at random moments, again and again, with everything compared after each.

    python3 Tests/Crash/kills.py HAUL COUNT [--seed N]

Each life is one file, drawn from a seed: its length, what a former run has left of it, how fast it comes, and what
happens to it (it changes on the server, it replaces another file). It is killed again and again, at last left alone.
"""

import argparse
import concurrent.futures
import os
import random
import sys
import threading
import time
import traceback

import manifest as format
from checker import Promise, findings, self_test
from command import Arena, Haul, version
from manifest import Manifest, plant
from origin import Origin, Resource

WORKERS = 6
#: Of one life.
MOST_KILLS = 12


class Tally:
    """What all lives have come to together, and how many kills are left to make."""

    def __init__(self, count):
        self._lock = threading.Lock()
        self.left = count
        self.kills = self.with_manifest = self.compared = 0

    def take(self):
        with self._lock:
            if self.left == 0:
                return False
            self.left -= 1
            return True

    def give_back(self):
        with self._lock:
            self.left += 1

    def note(self, marked):
        with self._lock:
            self.kills += 1
            self.with_manifest += marked is not None
            self.compared += marked or 0


class Life:
    """One target from its first byte to its last."""

    KINDS = ("plain", "plain", "changing", "overwriting", "finishing")

    def __init__(self, haul, origin, seed, tally):
        self.haul = haul
        self.tally = tally
        self.seed = seed
        self.dice = random.Random(seed)
        self.kind = self.dice.choice(self.KINDS)
        most = 3 if self.kind == "finishing" else 24
        self.versions = [version(self.dice, self.dice.randint(1, most << 20), f"{seed}-0")]
        # About a second and a half for the whole, so that some kills meet the commits of each second.
        rate = None if self.kind == "finishing" else max(4 << 20, len(self.versions[0].content) * 2 // 3)
        self.resource = Resource(self.versions[0], rate)
        origin.resources[f"/{seed}"] = self.resource
        self.url = origin.url(f"/{seed}")
        self.kills = 0
        self.is_finished = False

    def check(self, arena, what):
        found = findings(arena.target, self.versions)
        assert not found, f"{what}: {'; '.join(found)}"

    def live(self):
        with Arena() as arena:
            self.prepare(arena)
            while self.kills < MOST_KILLS and self.tally.take():
                if not self.one_kill(arena):
                    break
            self.end(arena)

    def prepare(self, arena):
        if self.kind == "overwriting":
            # What is to be replaced counts as a version until then.
            self.versions.append(version(self.dice, 1 << 20, "old"))
            with open(arena.target, "wb") as file:
                file.write(self.versions[-1].content)
        if self.dice.random() < 0.6:
            chunks = range(-(-len(self.versions[0].content) // format.CHUNK))
            marked = [chunk for chunk in chunks if self.dice.random() < 0.4]
            summed = [chunk for chunk in chunks if chunk not in marked and self.dice.random() < 0.2]
            plant(arena.target, self.versions[0], self.url, marked, summed, self.dice)

    def start(self, arena):
        more = ["--overwrite"] if self.kind == "overwriting" else []
        return self.haul.start(self.url, "-o", arena.target, "-q", "-c", str(self.dice.randint(1, 8)), *more)

    def one_kill(self, arena):
        """False when the file was finished first."""
        if self.kind != "overwriting" and os.path.exists(arena.target):
            self.tally.give_back()
            return False  # killed between the rename and the end
        before = Promise(arena.target)
        if self.kind == "changing" and self.dice.random() < 0.5:
            self.change()
        versions = len(self.versions)
        process = self.start(arena)
        self.await_moment(arena, process)
        ended = process.kill()
        has_changed_meanwhile = len(self.versions) > versions
        if not ended.was_killed and ended.code == 12 and has_changed_meanwhile and versions > 1:
            # What an earlier run had begun was out of date, and then the file changed once more: that is told.
            self.check(arena, "after a second change")
            self.tally.give_back()
            return True
        if not ended.was_killed:
            assert ended.code == 0, f"exit {ended.code}: {ended.errors}"
            assert arena.names == ["f"], f"left beside the file: {arena.names}"
            self.check(arena, "after its end")
            self.is_finished = True
            self.tally.give_back()
            return False
        self.kills += 1
        left = Manifest.read(arena.target + ".haul")
        self.tally.note(len(left.best.marked if left.best else ()) if left else None)
        self.check(arena, f"after kill {self.kills}")
        if self.kind != "changing" or len(self.versions) == 1:
            lost = self.lost(before, arena)
            assert not lost, f"kill {self.kills} took durable chunks: {sorted(lost)}"
        return True

    def lost(self, before, arena):
        if self.kind == "overwriting" and os.path.exists(arena.target):
            # The old file is still there, so it says nothing of the new one.
            with open(arena.target, "rb") as file:
                if file.read() == self.versions[-1].content:
                    now = Promise(arena.target)
                    return before.chunks - now.chunks
        return before.lost(arena.target)

    def change(self):
        self.versions.append(version(self.dice, self.dice.randint(1, 24 << 20), f"{self.seed}-{len(self.versions)}"))
        self.resource.version = self.versions[-1]

    def await_moment(self, arena, process):
        """1 to 500 ms after it was started, or shortly after something that is worth being killed at."""
        kind = self.dice.random()
        if self.kind == "finishing":
            # All of it takes some 50 ms.
            process.ends_within(self.dice.uniform(0.02, 0.1))
        elif kind < 0.6:
            process.ends_within(self.dice.uniform(0.001, 0.5))
        elif kind < 0.9:
            before = self.newest(arena)
            self.poll(process, lambda: self.newest(arena) != before)
            process.ends_within(self.dice.uniform(0.0, 0.05))
        else:
            if self.kind == "changing":
                self.poll(process, lambda: os.path.exists(arena.target + ".haul-part"))
                process.ends_within(self.dice.uniform(0.0, 0.2))
                self.change()
            process.ends_within(self.dice.uniform(0.0, 0.3))

    @staticmethod
    def newest(arena):
        found = Manifest.read(arena.target + ".haul")
        return found.best.sequence if found and found.best else None

    @staticmethod
    def poll(process, condition, timeout=5.0):
        limit = time.monotonic() + timeout
        while not condition() and time.monotonic() < limit and not process.ends_within(0.002):
            pass

    def end(self, arena):
        self.resource.rate = None
        present = self.resource.version
        if self.is_finished:
            with open(arena.target, "rb") as file:
                assert file.read() in [version.content for version in self.versions], "a wrong final file"
            return
        ended = self.start(arena).wait()
        if ended.code == 16 and os.path.exists(arena.target) and self.kind != "overwriting":
            # Killed between the rename and the last cleaning.
            self.check(arena, "after a kill in the finish")
        else:
            assert ended.code == 0, f"exit {ended.code} at the end: {ended.errors}"
            with open(arena.target, "rb") as file:
                assert file.read() == present.content, "a wrong final file"
        assert arena.names == ["f"], f"left beside the file: {arena.names}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("haul")
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    self_test()
    print(f"crash: kills, seed {options.seed} (again: python3 Tests/Crash/kills.py HAUL {options.count} "
          f"--seed {options.seed})", flush=True)
    haul, origin, tally = Haul(options.haul), Origin(), Tally(options.count)
    lives, failed, running = 0, 0, {}
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        while running or tally.left > 0 and not failed:
            while len(running) < WORKERS and tally.left > 0 and not failed:
                life = Life(haul, origin, options.seed + lives, tally)
                lives += 1
                running[pool.submit(life.live)] = life
            done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                life = running.pop(future)
                origin.resources.pop(f"/{life.seed}")
                if error := future.exception():
                    failed += 1
                    print(f"crash: FAILED in life {life.seed} ({life.kind}): {error}", file=sys.stderr)
                    if not isinstance(error, AssertionError):
                        traceback.print_exception(error)
    print(f"crash: {tally.kills} kills in {lives} lives, {time.monotonic() - began:.0f} s; {tally.with_manifest} left "
          f"a manifest, with {tally.compared} marked chunks compared: "
          + ("nothing lost, nothing wrong" if not failed else f"{failed} lives FAILED"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
