# SPDX-License-Identifier: Apache-2.0
"""The files that are served, and the comparison of what a tool wrote with them."""

import filecmp
import os
import shutil

from .measure import Entry, Failure

BLOCK = 1 << 20


def make_random(path, size):
    """Random, so that nothing on the way can compress it; just written, so that it is in the page cache."""
    with open(path, "wb") as file:
        for start in range(0, size, BLOCK):
            file.write(os.urandom(min(BLOCK, size - start)))
        file.flush()
        os.fsync(file.fileno())
    return path


class Outputs:
    """Where a tool puts one file, and what that must be equal to."""

    # What tools keep of an unfinished download: nothing of it may be left after a finished one.
    SIDECARS = (".haul", ".haul-part", ".aria2", ".aria2__temp", ".st", ".lftp-pget-status")

    def __init__(self, path, original):
        self.path = path
        self.original = original
        self.sidecars = [path.with_name(path.name + suffix) for suffix in self.SIDECARS]

    def glance(self):
        if not self.path.is_file():
            raise Failure("no output file")
        size, wanted = self.path.stat().st_size, self.original.stat().st_size
        if size != wanted:
            raise Failure(f"wrong size: {size} for {wanted}")
        for sidecar in self.sidecars:
            if sidecar.exists():
                raise Failure(f"{sidecar.name} left behind")

    def check(self, _=b""):
        if not filecmp.cmp(self.path, self.original, shallow=False):
            raise Failure("WRONG BYTES: the output differs from the original")

    def clean(self):
        for path in [self.path, *self.sidecars]:
            path.unlink(missing_ok=True)

    def entry(self, name, command, prepare=lambda: None):
        return Entry(name, command, self.check, self.glance, prepare, self.clean)


class ManyOutputs:
    """A folder in which every one of the originals must appear."""

    def __init__(self, folder, originals):
        self.folder = folder
        self.originals = originals

    def prepare(self):
        self.folder.mkdir(exist_ok=True)

    def glance(self):
        missing = [path.name for path in self.originals if not (self.folder / path.name).is_file()]
        if missing:
            raise Failure(f"{len(missing)} of {len(self.originals)} files are missing")

    def check(self, _=b""):
        wrong = [path.name for path in self.originals
                 if not filecmp.cmp(path, self.folder / path.name, shallow=False)]
        if wrong:
            raise Failure(f"WRONG BYTES in {len(wrong)} files, {wrong[0]} first")

    def clean(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def entry(self, name, command):
        return Entry(name, command, self.check, self.glance, self.prepare, self.clean)
