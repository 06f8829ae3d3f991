# SPDX-License-Identifier: Apache-2.0
"""Power losses of a real filesystem under the real command, by forced shutdowns of a loop mount. Needs root.

    python3 Tests/Crash/powerloss.py HAUL COUNT [--seed N] [--filesystem ext4|xfs]

A shutdown (EXT4_IOC_SHUTDOWN without flushing the log; xfs has the same one) drops what has not reached the disk. Then
the filesystem is mounted again and recovers by its log; the checker compares, an undisturbed run must bring exactly
the reference bytes. The moments: any time, and each system call in turn by the shim. What has to be seen to fail: the
same losses with the syncs of the data left out (by the shim; the command knows nothing of it). Not shown by this:
writes that tear within a sector, and drives that reorder or lose what they were told to flush.
"""

import argparse
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from fcntl import ioctl

import scenarios
from checker import Promise, findings, self_test
from command import Haul, build_shim, version
from manifest import Manifest
from origin import Origin, Resource

SHUTDOWN = 0x8004587D
NO_LOG_FLUSH = struct.pack("I", 2)
#: xfs makes no smaller ones.
IMAGE_BYTES = 320 << 20
#: The syncs of the part are left out: what a program does that marks before its data is on the disk.
UNSYNCED = "fsync part 1+ skip;fdatasync part 1+ skip"


class Volume:
    """A filesystem in a file, mounted over loop. It has one folder, and in that the target."""

    def __init__(self, kind, size=IMAGE_BYTES):
        self.place = tempfile.mkdtemp(prefix="haul-power.")
        self.image = os.path.join(self.place, "image")
        self.mountpoint = os.path.join(self.place, "mnt")
        os.mkdir(self.mountpoint)
        with open(self.image, "wb") as file:
            file.truncate(size)
        more = ["-q", "-E", "lazy_itable_init=0"] if kind == "ext4" else ["-q"]
        subprocess.run([f"mkfs.{kind}", *more, self.image], check=True, stdout=subprocess.DEVNULL)
        self.is_mounted = False
        self.mount()

    def mount(self):
        subprocess.run(["mount", "-o", "loop", self.image, self.mountpoint], check=True)
        self.is_mounted = True

    def unmount(self):
        if self.is_mounted:
            # Whoever was killed a moment ago may hold it still.
            for _ in range(200):
                ended = subprocess.run(["umount", self.mountpoint], stderr=subprocess.PIPE)
                if ended.returncode == 0:
                    break
                time.sleep(0.02)
            else:
                raise AssertionError(f"umount: {ended.stderr.decode()}")
            self.is_mounted = False

    def lose_power(self):
        """From here on nothing reaches the disk."""
        descriptor = os.open(self.mountpoint, os.O_RDONLY)
        try:
            ioctl(descriptor, SHUTDOWN, NO_LOG_FLUSH)
        finally:
            os.close(descriptor)

    def come_back(self):
        self.unmount()
        self.mount()

    def close(self):
        self.unmount()
        shutil.rmtree(self.place)


class Place:
    """What the scenarios call an arena: an empty folder on the volume."""

    def __init__(self, volume):
        self.folder = os.path.join(volume.mountpoint, "there")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.mkdir(self.folder)
        # Whoever downloads into a folder has had it for longer than a moment.
        os.sync()
        self.target = os.path.join(self.folder, "f")

    @property
    def names(self):
        return sorted(os.listdir(self.folder))


class Bench:
    def __init__(self, haul, kind, seed):
        self.haul = haul
        self.origin = Origin()
        self.dice = random.Random(seed)
        self.volume = Volume(kind)
        self.log = os.path.join(self.volume.place, "calls")
        #: Marked chunks that a power loss left, and that were compared.
        self.compared = 0

    def at_any_time(self, number, faults=None):
        """Power is lost at some time of a download of three seconds. Returns what the checker finds."""
        content = version(self.dice, self.dice.randint(20 << 20, 40 << 20), f"any-{number}")
        resource = self.origin.resources["/any"] = Resource(content, len(content.content) // 3)
        place = Place(self.volume)
        more = {"faults": faults, "folder": place.folder, "log": self.log} if faults else {}
        arguments = (self.origin.url("/any"), "-o", place.target, "-c", "4", "-q")
        running = self.haul.start(*arguments, **more)
        # Past the first commit, and not past the end.
        running.ends_within(self.dice.uniform(1.8 if faults else 1.05, 2.8))
        before = Promise(place.target, may_be_unsynced=True)
        self.volume.lose_power()
        running.kill()
        self.volume.come_back()
        resource.rate = None
        found = self.judge(place, [content], before)
        if not faults:
            self.go_on(place, arguments, content)
        return found

    def at_a_call(self, kind, nth, call, faults=()):
        """Power is lost right behind the nth such call of a scenario. None when it has not so many."""
        scenario = kind(self.origin, "call")
        place = Place(self.volume)
        scenario.prepare(place)
        os.sync()
        before = Promise(place.target)
        if os.path.exists(self.log):
            os.remove(self.log)
        rules = ";".join(filter(None, [f"{call} * {nth} power+", *faults, scenario.base]))
        arguments = (scenario.url, "-o", place.target, "-c", "1", "-q")
        running = self.haul.start(*arguments, *scenario.arguments, faults=rules, folder=place.folder, log=self.log)
        scenario.drive(running)
        if not running.wait().was_killed:
            scenario.release()
            return None
        self.volume.come_back()
        scenario.release()
        found = self.judge(
            place, scenario.versions, None if scenario.forgets else before, scenario.damaged, scenario.old)
        is_there = os.path.exists(place.target) and scenario.old is None
        self.go_on(place, (*arguments, *scenario.again), scenario.version, 16 if is_there else 0)
        return found

    def judge(self, place, versions, before, damaged=(), old=None):
        found = findings(place.target, versions, power_lost=True, damaged=damaged)
        left = Manifest.read(place.target + ".haul")
        if left and left.best:
            self.compared += len(left.best.marked)
        if before and (old is None or not os.path.exists(place.target)):
            lost = before.lost(place.target, damaged)
            if lost:
                found.append(f"durable chunks {sorted(lost)} are lost")
        return found

    def go_on(self, place, arguments, content, code=0):
        ended = self.haul.run(*arguments)
        assert ended.code == code, f"the next run: exit {ended.code}: {ended.errors.strip()}"
        with open(place.target, "rb") as file:
            assert file.read() == content.content, "the next run made a wrong file"
        assert place.names == ["f"], f"left beside the file: {place.names}"


def measure(bench, kind, count):
    """Returns whether all is well."""
    began, losses, failures = time.monotonic(), 0, []

    def note(what, found):
        nonlocal losses
        losses += 1
        if found:
            failures.append(f"{what}: {'; '.join(found)}")

    try:
        for number in range(count // 2):
            note(f"loss {number} at any time", bench.at_any_time(number))
        # Behind each sync, name and slot that the scenarios make, as far as the count goes.
        moments = [
            (scenario, call) for scenario in (
                scenarios.Resuming, scenarios.Stopped, scenarios.Changed, scenarios.Overwriting, scenarios.Mismatching,
                scenarios.Damaged, scenarios.Linking, scenarios.Fresh, scenarios.Committing)
            for call in ("fsync", "fdatasync", "rename", "link", "unlink", "open", "pwrite", "ftruncate")
        ]
        bench.dice.shuffle(moments)
        nth = 0
        while losses < count and moments:
            nth += 1
            for moment in list(moments):
                if losses == count:
                    break
                scenario, call = moment
                found = bench.at_a_call(scenario, nth, call)
                if found is None:
                    moments.remove(moment)
                else:
                    note(f"{scenario.__name__}, behind {call} {nth}", found)
    except AssertionError as error:
        failures.append(str(error))
    for failure in failures:
        print(f"crash: FAILED on {kind}: {failure}", file=sys.stderr)
    print(f"crash: {losses} power losses on {kind}, {time.monotonic() - began:.0f} s, {bench.compared} marked chunks "
          "compared: " + (f"{len(failures)} FAILED" if failures else "nothing lost, nothing wrong"))
    return not failures


def control(bench, kind, count=3):
    """The same without the syncs of the data: it must be seen."""
    caught = sum(bool(bench.at_any_time(number, faults=UNSYNCED)) for number in range(count))
    print(f"crash: {caught} of {count} power losses on {kind} were seen to take marked chunks, with the syncs of the "
          "data left out on purpose" + ("" if caught else ": FAILED, this would not notice a missing sync"))
    return caught > 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("haul")
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--filesystem", choices=["ext4", "xfs"], default="ext4")
    options = parser.parse_args()
    kind = options.filesystem
    if os.geteuid() != 0:
        print("crash: no power losses: only root may mount and shut down filesystems")
        return 0
    if not shutil.which(f"mkfs.{kind}"):
        print(f"crash: no power losses on {kind}: there is no mkfs.{kind}")
        return 0
    self_test()
    print(f"crash: power losses on {kind}, seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        shim = build_shim(folder)
        if not shim:
            return 0
        try:
            bench = Bench(Haul(options.haul, shim), kind, options.seed)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"crash: no power losses on {kind}: this machine mounts none over loop ({error})")
            return 0
        try:
            return 0 if control(bench, kind) & measure(bench, kind, options.count) else 1
        finally:
            bench.volume.close()


if __name__ == "__main__":
    sys.exit(main())
