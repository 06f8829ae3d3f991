# SPDX-License-Identifier: Apache-2.0
"""Lets each system call of the real command fail, one at a time, and looks at what it makes of that.

    python3 Tests/Crash/faults.py HAUL all [--only SCENARIO] [--table]
    python3 Tests/Crash/faults.py HAUL COUNT [--seed N] ...

For each scenario, each call and each way in which it can fail: the nth such call fails, n counted up until the run
passes without meeting the fault. After each run: the exit code is a documented one, an error says what was kept,
nothing durable is lost, no final file is wrong, and an undisturbed run brings exactly the reference bytes. With a
COUNT, so many faults of each scenario are drawn from a seed.
"""

import argparse
import collections
import concurrent.futures
import itertools
import os
import random
import sys
import tempfile
import time
import traceback

from checker import Promise, findings, self_test
from command import DOCUMENTED, Arena, Haul, build_shim
from origin import Origin
from scenarios import ALL

WORKERS = 4
#: More calls of one kind than this are no scenario's: a fault that sends it around in circles is noticed so.
MOST_CALLS = 400
WAYS = {
    "open": ["EIO", "EACCES", "EMFILE", "EROFS", "ENOSPC", "EINTR", "ENOMEM"],
    "pwrite": ["EIO", "short", "ENOSPC", "EINTR", "EDQUOT", "EROFS", "EFBIG"],
    "pread": ["EIO", "EINTR", "short"],
    "fdatasync": ["EIO", "ENOSPC", "EINTR", "EDQUOT", "EROFS"],
    "fsync": ["EIO", "EINTR", "ENOSPC", "EDQUOT"],
    "fallocate": ["ENOSPC", "EOPNOTSUPP", "EINTR", "EDQUOT", "EIO", "EFBIG", "ENOSYS"],
    "ftruncate": ["EIO", "EINTR", "EROFS", "ENOSPC"],
    "rename": ["EIO", "EXDEV", "EROFS", "ENOSPC", "EINVAL", "EEXIST", "EACCES", "EIO+"],
    "link": ["EIO", "EXDEV", "EPERM", "ENOSPC", "EEXIST", "EIO+"],
    "unlink": ["EIO", "EROFS", "EACCES", "EIO+"],
    "close": ["EIO", "EINTR", "ENOSPC"],
    "fchmod": ["EPERM", "EIO", "EROFS"],
    "futimens": ["EPERM", "EIO", "EROFS"],
    "flock": ["EINTR", "ENOLCK", "EIO"],
    "stat": ["EIO", "ENOMEM", "ESTALE"],
    "fadvise": ["EIO", "EINVAL"],
    # Any call at all: stopped before it, or behind it.
    "*": ["kill", "kill+"],
}
#: What must not come behind a failed sync of the part: nothing may be called durable or finished any more.
FORBIDDEN = {"fdatasync manifest", "fsync manifest", "rename part", "link part"}


def disorder(calls):
    """What of the order of names and syncs does not hold, in a list of calls as the shim writes it."""
    synced, renamed, named = True, False, True
    for call in calls:
        if call.startswith("pwrite part"):
            synced = False
        elif call in ("fsync part", "fdatasync part"):
            synced = True
        elif call == "fsync directory":
            named = True
        elif call == "rename part":
            if not synced:
                return "the final name was given to bytes that were not synced"
            renamed, named = True, False
        elif call == "unlink manifest" and renamed and not named:
            return "the manifest was removed before the final name was durable"
    return None


class Failure(Exception):
    pass


def insist(condition, what):
    if not condition:
        raise Failure(what)


class Trial:
    """One run with one fault, and one without."""

    serials = itertools.count()

    def __init__(self, haul, origin, kind, fault):
        self.haul = haul
        self.fault = fault
        self.origin = origin
        self.scenario = kind(origin, f"{kind.__name__}-{next(self.serials)}")

    def run(self):
        """Whether the fault was met, and the exit code."""
        with Arena() as arena:
            try:
                return self.within(arena)
            finally:
                self.scenario.release()
                del self.origin.resources[self.scenario.path]

    def within(self, arena):
        scenario = self.scenario
        scenario.prepare(arena)
        before = Promise(arena.target)
        running = self.start(arena, ";".join(filter(None, [self.fault, scenario.base])), scenario.arguments)
        scenario.drive(running)
        ended = running.wait()
        with open(arena.log) as file:
            calls = self.calls = file.read().splitlines()
        met = any(call.endswith(" !0") for call in calls)
        self.judge(arena, ended, calls, met, before)
        self.follow(arena)
        return met, ended.code

    def start(self, arena, faults, arguments):
        return self.haul.start(
            self.scenario.url, "-o", arena.target, "-c", "1", "-q", *arguments, faults=faults, folder=arena.folder,
            log=arena.log)

    def judge(self, arena, ended, calls, met, before):
        scenario = self.scenario
        said = f"exit {ended.code}: {ended.errors.strip()}"
        if not met:
            insist(ended.code == scenario.code, f"{said}, without a fault")
        elif "kill" in self.fault:
            insist(ended.was_killed, f"it was to be killed: {said}")
        else:
            insist(ended.code in DOCUMENTED, said)
            insist(ended.code == 0 or ended.errors.startswith("haul: "), f"no word of the error: {said}")
        insist(not disorder(calls), f"{disorder(calls)}: {said}")
        self.check(arena, said)
        if os.path.exists(arena.target):
            with open(arena.target, "rb") as file:
                final = file.read()
            insist(final in scenario.may_be_final(), f"a wrong final file after {said}")
            insist(ended.code != 0 or final == scenario.version.content, "done, with the old file")
        else:
            insist(ended.code != 0, "done, without a file")
        if not scenario.forgets and (scenario.old is None or not os.path.exists(arena.target)):
            lost = before.lost(arena.target, scenario.damaged)
            insist(not lost, f"durable chunks {sorted(lost)} are lost after {said}")
        if ended.code not in (0, scenario.code) and not ended.was_killed:
            # (What has the wrong digest is not kept.)
            is_kept = Promise(arena.target).chunks and not scenario.forgets
            insist(
                not is_kept or "kept " in ended.errors or "is left as it was" in ended.errors,
                f"it does not say what was kept: {said}")
        syncs = ("fdatasync part !0", "fsync part !0")
        first = next((index for index, call in enumerate(calls) if call in syncs), None)
        if first is not None and "EINTR" not in self.fault and "kill" not in self.fault:
            insist(ended.code == 14, f"a failed sync is not told: {said}")
            behind = FORBIDDEN.intersection(calls[first + 1:])
            insist(not behind, f"behind a failed sync came {sorted(behind)}")

    def check(self, arena, what):
        found = findings(
            arena.target, self.scenario.versions, damaged=self.scenario.damaged, is_torn=self.scenario.is_torn)
        insist(not found, f"{'; '.join(found)} after {what}")

    def follow(self, arena):
        scenario = self.scenario
        scenario.release()
        if "kill" in self.fault:
            # What recovers may be killed as well.
            self.start(arena, f"* * {random.Random(self.fault).randint(1, 40)} kill", scenario.again).wait()
            self.check(arena, "a second kill")
        is_there = os.path.exists(arena.target) and scenario.old is None
        again = self.haul.run(scenario.url, "-o", arena.target, "-c", "1", "-q", *scenario.again)
        # A file that is there is in the way, unless it has the digest that is asked for.
        expected = 16 if is_there and not scenario.again else 0
        insist(again.code == expected, f"the next run: exit {again.code}: {again.errors.strip()}")
        insist(arena.names == ["f"], f"left beside the file: {arena.names}")
        with open(arena.target, "rb") as file:
            insist(file.read() == scenario.version.content, "the next run made a wrong file")


def attempt(haul, origin, kind, fault):
    """Whether the fault was met, and an exit code or a Failure."""
    try:
        return Trial(haul, origin, kind, fault).run()
    except (Failure, AssertionError) as failure:
        return True, failure


def series(haul, origin, kind, call, way):
    """Counts n up until the run passes without the fault. Yields (fault, exit code or Failure)."""
    for nth in range(1, MOST_CALLS + 1):
        fault = f"{call} * {nth} {way}"
        met, result = attempt(haul, origin, kind, fault)
        if not met:
            return
        yield fault, result
    yield fault, Failure("there is no end to it")


def sample(haul, origin, kind, count, dice):
    """So many of what `series` would try."""
    # A fault that is never met tells how many calls there are.
    trial = Trial(haul, origin, kind, "stat * 999999 EIO")
    trial.run()
    totals = collections.Counter(call.split()[0] for call in trial.calls)
    totals["*"] = len(trial.calls)
    drawn = [(call, way) for call, way in kind_of_faults(kind) if totals[call]]
    for call, way in dice.choices(drawn, k=count):
        fault = f"{call} * {dice.randint(1, totals[call])} {way}"
        # Runs are not all alike; one that ends before the call came is one without a fault.
        yield fault, attempt(haul, origin, kind, fault)[1]


def kind_of_faults(kind):
    """Calls and ways; not those that a scenario disturbs anyway."""
    for call, ways in WAYS.items():
        if call not in (rule.split()[0] for rule in kind.base.split(";") if rule):
            for way in ways:
                yield call, way


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("haul")
    parser.add_argument("count")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--only")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    self_test()
    for wrong in (["fsync part", "pwrite part", "rename part"],
                  ["fsync part", "rename part", "unlink manifest", "fsync directory"]):
        assert disorder(wrong), f"a wrong order is not seen: {wrong}"
    with tempfile.TemporaryDirectory() as folder:
        shim = build_shim(folder)
        return run(options, Haul(options.haul, shim)) if shim else 0


def run(options, haul):
    origin, began = Origin(), time.monotonic()
    codes, failures, faults = collections.Counter(), 0, 0
    kinds = [kind for kind in ALL if options.only in (None, kind.__name__)]
    # The slow ones first, so that they do not stand alone at the end.
    kinds.sort(key=lambda kind: not kind.is_slow)
    if options.count == "all":
        jobs = [(series, haul, origin, kind, *fault) for kind in kinds for fault in kind_of_faults(kind)]
    else:
        print(f"crash: faults of system calls, seed {options.seed} (again: python3 Tests/Crash/faults.py HAUL "
              f"{options.count} --seed {options.seed})", flush=True)
        jobs = [(sample, haul, origin, kind, int(options.count), random.Random(f"{options.seed} {kind.__name__}"))
                for kind in kinds]
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        for job, results in zip(jobs, pool.map(lambda job: list(job[0](*job[1:])), jobs)):
            for fault, result in results:
                faults += 1
                if isinstance(result, int):
                    codes[job[3].__name__, fault.split()[0], fault.split()[3], result] += 1
                    continue
                failures += 1
                print(f"crash: FAILED: {job[3].__name__}, {fault}: {result}", file=sys.stderr, flush=True)
    if options.table:
        for key, count in sorted(codes.items()):
            print("  %-16s %-10s %-10s exit %4d: %d" % (*key, count))
    print(f"crash: {faults} faults of system calls in {len(kinds)} scenarios, {time.monotonic() - began:.0f} s: "
          + (f"{failures} FAILED" if failures else "nothing lost, nothing wrong"))
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Exception:
        traceback.print_exc()
        sys.exit(1)
