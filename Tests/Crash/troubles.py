# SPDX-License-Identifier: Apache-2.0
"""Real disks that are full, fill up, or become read-only under the real command. Needs root and loop mounts.

    python3 Tests/Crash/troubles.py HAUL
"""

import os
import random
import subprocess
import sys
import tempfile

import powerloss
from checker import Promise, findings
from command import Haul, build_shim, version
from origin import Origin, Resource

#: A filesystem that cannot set room aside.
SPARSE = "fallocate part 1+ EOPNOTSUPP"


class Trouble:
    def __init__(self, haul, origin, volume):
        self.haul = haul
        self.volume = volume
        self.place = powerloss.Place(volume)
        self.log = os.path.join(volume.place, "calls")
        self.content = version(random.Random(61), 40 << 20, "trouble")
        self.resource = origin.resources["/trouble"] = Resource(self.content)
        self.arguments = (origin.url("/trouble"), "-o", self.place.target, "-c", "2", "-q")

    def fill(self):
        """Takes what is free on the volume; returns what gives it back."""
        path = os.path.join(self.volume.mountpoint, "filler")
        with open(path, "wb", buffering=0) as file:
            for size in (1 << 20, 4096, 512):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError:
                    pass
        return lambda: os.remove(path)

    def start_and_hold(self, offset, **more):
        """Runs until the server has sent all it may."""
        self.resource.hold(offset)
        running = self.haul.start(*self.arguments, **more)
        while not self.resource.waiting and not running.ends_within(0.002):
            pass
        return running

    def expect_error(self, ended, *words):
        said = f"exit {ended.code}: {ended.errors}"
        assert ended.code == 14, said
        for word in words:
            assert word in ended.errors, f"not a word of “{word}”: {said}"
        assert not os.path.exists(self.place.target), "there is a final file"
        found = findings(self.place.target, [self.content])
        assert not found, "; ".join(found)

    def end(self, most_again=None):
        """An undisturbed run; it may fetch so many bytes."""
        self.resource.hold(None)
        before = self.resource.sent
        ended = self.haul.run(*self.arguments)
        assert ended.code == 0, f"the next run: exit {ended.code}: {ended.errors}"
        with open(self.place.target, "rb") as file:
            assert file.read() == self.content.content, "the next run made a wrong file"
        again = self.resource.sent - before
        assert most_again is None or again <= most_again, f"the next run fetched {again} bytes"
        assert self.place.names == ["f"], self.place.names

    # --- The troubles

    def too_small(self):
        """There is no room from the start: told before the second request, and nothing is left."""
        give_back = self.fill()
        self.resource.hold(None)
        ended = self.haul.run(*self.arguments)
        self.expect_error(ended, "are needed", "are free", "make room")
        assert self.resource.sent < 8 << 20, f"{self.resource.sent} bytes were fetched for nothing"
        assert self.place.names == [], self.place.names
        give_back()
        self.end()

    def fills_up(self):
        """Somebody takes the room while it downloads, and none was set aside."""
        running = self.start_and_hold(20 << 20, faults=SPARSE, folder=self.place.folder, log=self.log)
        # A manifest first: what is there before its first commit is not worth one.
        while not Promise(self.place.target).chunks and not running.ends_within(0.01):
            pass
        give_back = self.fill()
        self.resource.hold(None)
        self.expect_error(running.wait(), "No space left on device", "kept ", "make room")
        assert len(Promise(self.place.target).chunks) >= 10, "what was there is not promised any more"
        give_back()
        self.end(most_again=30 << 20)

    def set_aside(self):
        """Somebody takes the room while it downloads, but it was set aside."""
        running = self.start_and_hold(20 << 20)
        while not Promise(self.place.target).chunks and not running.ends_within(0.01):
            pass
        give_back = self.fill()
        self.resource.hold(None)
        ended = running.wait()
        assert ended.code == 0, f"exit {ended.code}: {ended.errors}"
        with open(self.place.target, "rb") as file:
            assert file.read() == self.content.content, "a wrong file"
        give_back()

    def no_manifest(self):
        """The same in the first second: the manifest finds no room, and nobody may say that what is there counts."""
        self.resource.rate = 16 << 20
        running = self.start_and_hold(8 << 20)
        give_back = self.fill()
        self.resource.hold(None)
        self.expect_error(running.wait(), "No space left on device", "the same command starts over", "make room")
        assert self.place.names == ["f.haul-part"], self.place.names
        give_back()
        self.resource.rate = None
        self.end()

    def read_only(self):
        """The filesystem gives up and becomes read-only, as ext4 does after an error of its own."""
        running = self.start_and_hold(20 << 20)
        while not Promise(self.place.target).chunks and not running.ends_within(0.01):
            pass
        subprocess.run(["mount", "-o", "remount,abort", self.volume.mountpoint], check=True)
        self.resource.hold(None)
        ended = running.wait()
        # What it was that failed first is the kernel's choice.
        assert ended.code == 14 and "kept " in ended.errors, f"exit {ended.code}: {ended.errors}"
        self.volume.come_back()
        found = findings(self.place.target, [self.content], power_lost=True)
        assert not found, "; ".join(found)
        self.end(most_again=30 << 20)


def main():
    haul, failed = sys.argv[1], 0
    if os.geteuid() != 0:
        print("crash: no full disks: only root may mount them")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        shim = build_shim(folder)
        if not shim:
            return 0
        try:
            volume = powerloss.Volume("ext4", 96 << 20)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"crash: no full disks: this machine mounts none over loop ({error})")
            return 0
        troubles = [
            Trouble.too_small, Trouble.fills_up, Trouble.set_aside, Trouble.no_manifest, Trouble.read_only,
        ]
        origin = Origin()
        try:
            for trouble in troubles:
                try:
                    trouble(Trouble(Haul(haul, shim), origin, volume))
                except AssertionError as error:
                    failed += 1
                    print(f"crash: FAILED: {trouble.__name__}: {error}", file=sys.stderr)
                for name in os.listdir(volume.mountpoint):
                    if name == "filler":
                        os.remove(os.path.join(volume.mountpoint, name))
        finally:
            volume.close()
    print(f"crash: {len(troubles)} full and failing disks: " + (f"{failed} FAILED" if failed else "nothing lost"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
