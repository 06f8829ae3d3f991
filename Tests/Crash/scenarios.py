# SPDX-License-Identifier: Apache-2.0
"""Small runs of the command, each through another part of what it does to the disk, to be disturbed somewhere."""

import hashlib
import os
import random
import shutil

from command import version
from manifest import CHUNK, plant
from origin import Resource


class Scenario:
    """A fresh download of three chunks and a bit, over one connection. The others change something of it."""

    length = 3 * CHUNK + 4097
    rate = None
    #: The exit code without faults.
    code = 0
    arguments = ()
    #: Of the undisturbed run that follows.
    again = ()
    #: Faults that are always there.
    base = ""
    #: The promises of before may be taken back: another generation begins, or an error of the bytes was found.
    forgets = False
    damaged = ()
    #: A kill may leave half a sum.
    is_torn = False
    #: Leaves a file at the final name that is to be replaced.
    old = None
    #: Takes seconds, so that the tests of each commit pick fewer faults.
    is_slow = False

    def __init__(self, origin, serial):
        dice = random.Random(f"{type(self).__name__}")
        self.version = version(dice, self.length, "new")
        self.versions = [self.version]
        self.path = f"/{serial}"
        self.url = origin.url(self.path)
        self.resource = origin.resources[self.path] = Resource(self.version, self.rate)

    @property
    def name(self):
        return type(self).__name__

    def prepare(self, arena):
        pass

    def drive(self, running):
        """Called when it has been started."""

    def release(self):
        self.resource.hold(None)
        self.resource.rate = None

    def plant(self, arena, of=None, marked=(0,), summed=(1,)):
        return plant(arena.target, of or self.version, self.url, marked, summed)

    def may_be_final(self):
        """What may stand at the final name after a run that failed."""
        return [self.version.content] + ([self.old.content] if self.old else [])


class Fresh(Scenario):
    pass


class Sparse(Scenario):
    """A filesystem that cannot set room aside."""

    base = "fallocate * 1+ EOPNOTSUPP"


class Storming(Scenario):
    """Each second call is interrupted by a signal."""

    base = ";".join(f"{call} * /2 EINTR" for call in (
        "open", "pwrite", "pread", "fsync", "fdatasync", "fallocate", "ftruncate", "rename", "unlink", "flock", "close",
        "fchmod"))

    def prepare(self, arena):
        self.plant(arena)


class Trickling(Scenario):
    """Each second write or read does one byte."""

    base = "pwrite * /2 short;pread * /2 short"
    is_torn = True

    def prepare(self, arena):
        self.plant(arena)


class ReadOnly(Scenario):
    """The filesystem becomes read-only in the middle."""

    code = 14
    base = "pwrite * 3+ EROFS;rename * 1+ EROFS;unlink * 1+ EROFS;fsync * 2+ EROFS"

    def prepare(self, arena):
        self.plant(arena)


class Vanishing(Scenario):
    """Somebody removes the folder in the middle."""

    code = 14
    forgets = True

    def prepare(self, arena):
        self.arena = arena
        self.resource.hold(CHUNK + CHUNK // 2)

    def drive(self, running):
        while not self.resource.waiting and not running.ends_within(0.002):
            pass
        shutil.rmtree(self.arena.folder)
        self.resource.hold(None)

    def release(self):
        super().release()
        os.makedirs(self.arena.folder, exist_ok=True)


class Linking(Scenario):
    """A filesystem that cannot rename without replacing."""

    base = "rename part 1+ EINVAL"

    def prepare(self, arena):
        self.plant(arena)


class Resuming(Scenario):
    def prepare(self, arena):
        self.plant(arena)


class Stopped(Scenario):
    """Interrupted in order: the commit of the stop makes the manifest."""

    code = 130

    def prepare(self, arena):
        self.resource.hold(CHUNK + CHUNK // 2)

    def drive(self, running):
        # A fault may end it before the server has to hold anything.
        while not self.resource.waiting and not running.ends_within(0.002):
            pass
        running.interrupt()


class StoppedAgain(Stopped):
    def prepare(self, arena):
        self.plant(arena)
        self.resource.hold(2 * CHUNK + CHUNK // 2)


class Committing(Scenario):
    """Goes on long enough for the commits of two seconds."""

    rate = 3 * CHUNK // 2
    is_slow = True


class Changed(Scenario):
    """The file has become another one on the server."""

    forgets = True

    def prepare(self, arena):
        before = version(random.Random(7), self.length + 5, "before")
        self.versions.append(before)
        self.plant(arena, of=before)

    def may_be_final(self):
        return [self.version.content]


class Overwriting(Scenario):
    arguments = again = ("--overwrite",)

    def prepare(self, arena):
        self.old = version(random.Random(8), 100_000, "old")
        self.versions.append(self.old)
        with open(arena.target, "wb") as file:
            file.write(self.old.content)
        self.plant(arena)


class Mismatching(Scenario):
    """The digest that was asked for is not the file's. (The run that follows asks for the right one.)"""

    code = 13
    arguments = ("--sha256", "0" * 64)
    forgets = True

    def __init__(self, origin, serial):
        super().__init__(origin, serial)
        self.again = ("--sha256", hashlib.sha256(self.version.content).hexdigest())

    def prepare(self, arena):
        self.plant(arena)

    def may_be_final(self):
        return []


class Damaged(Scenario):
    """A marked chunk has rotted on the disk."""

    damaged = (1,)

    def prepare(self, arena):
        self.plant(arena, marked=(0, 1, 2), summed=())
        with open(arena.target + ".haul-part", "r+b") as file:
            file.seek(CHUNK + 1000)
            file.write(b"rotten")


class CutOff(Scenario):
    """Somebody has made the part shorter."""

    damaged = (1, 2)

    def prepare(self, arena):
        self.plant(arena, marked=(0, 1, 2), summed=())
        os.truncate(arena.target + ".haul-part", CHUNK + CHUNK // 2)


class Extended(Scenario):
    """Somebody has written behind the end of the part."""

    def prepare(self, arena):
        self.plant(arena)
        with open(arena.target + ".haul-part", "ab") as file:
            file.write(b"more" * 100_000)


class Leftover(Scenario):
    """What a kill between the last rename and the removal of the manifest leaves."""

    code = 16

    def prepare(self, arena):
        self.plant(arena, marked=range(4), summed=())
        os.rename(arena.target + ".haul-part", arena.target)


class LeftoverVerified(Leftover):
    """The same, and the file is only compared with a digest."""

    code = 0

    def __init__(self, origin, serial):
        super().__init__(origin, serial)
        self.arguments = self.again = ("--sha256", hashlib.sha256(self.version.content).hexdigest())


class LinkedLeftover(Scenario):
    """What a kill between link and unlink leaves."""

    code = 16

    def prepare(self, arena):
        self.plant(arena, marked=range(4), summed=())
        os.link(arena.target + ".haul-part", arena.target)


class OrphanedPart(Scenario):
    """A part without its manifest."""

    forgets = True

    def prepare(self, arena):
        self.plant(arena)
        os.remove(arena.target + ".haul")


class OrphanedManifest(Scenario):
    forgets = True

    def prepare(self, arena):
        self.plant(arena)
        os.remove(arena.target + ".haul-part")


ALL = [
    Fresh, Sparse, Storming, Trickling, ReadOnly, Vanishing, Linking, Resuming, Stopped, StoppedAgain, Committing,
    Changed, Overwriting, Mismatching, Damaged, CutOff, Extended, Leftover, LeftoverVerified, LinkedLeftover,
    OrphanedPart, OrphanedManifest,
]
