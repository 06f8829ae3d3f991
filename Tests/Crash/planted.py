# SPDX-License-Identifier: Apache-2.0
"""Manifests that lie, planted beside a target: what the real command makes of them.

    python3 Tests/Crash/planted.py HAUL

Each marks bytes that are not the file's, with sums that are right for those bytes, as only somebody could write who is
allowed to write there. Without a digest nothing can tell (but nothing may be called verified); with one they are found.
"""

import hashlib
import os
import random
import subprocess
import sys

import manifest as format
from command import Arena, version
from manifest import Manifest, Slot, Version
from origin import Origin, Resource


class Case:
    def __init__(self, haul, origin, chunks):
        self.haul = haul
        self.right = version(random.Random(87), 3 * format.CHUNK + 5, "right")
        self.url = origin.url("/planted")
        origin.resources["/planted"] = Resource(self.right)
        #: Which chunks are zeros and marked.
        self.chunks = chunks

    def plant(self, arena, mode=0o600):
        zeros = Version(bytes(len(self.right.content)), self.right.etag)
        format.plant(arena.target, zeros, self.url, self.chunks)
        os.chmod(arena.target + ".haul", mode)

    def run(self, arena, *arguments):
        ended = subprocess.run([self.haul, self.url, "-o", arena.target, *arguments], capture_output=True, text=True)
        return ended.returncode, ended.stdout + ended.stderr

    def without_digest(self):
        with Arena() as arena:
            self.plant(arena)
            code, said = self.run(arena)
            assert code == 0 and "computed" in said and "verified" not in said, f"exit {code}: {said}"

    def with_digest(self):
        digest = hashlib.sha256(self.right.content).hexdigest()
        with Arena() as arena:
            self.plant(arena)
            code, said = self.run(arena, "--sha256", digest)
            with open(arena.target, "rb") as file:
                assert file.read() == self.right.content, f"a wrong file: {said}"
            assert code == 0 and "verified" in said and arena.names == ["f"], f"exit {code}: {said}"

    def with_another_digest(self):
        with Arena() as arena:
            self.plant(arena)
            code, said = self.run(arena, "--sha256", "0" * 64)
            assert code == 13 and not os.path.exists(arena.target), f"exit {code}: {said}"

    def writable_by_others(self):
        with Arena() as arena:
            self.plant(arena, mode=0o666)
            before = [open(os.path.join(arena.folder, name), "rb").read() for name in arena.names]
            code, said = self.run(arena)
            after = [open(os.path.join(arena.folder, name), "rb").read() for name in arena.names]
            assert code == 16 and before == after, f"exit {code}: {said}"

    def both_slots_of_one_sequence(self):
        """Corrupt, so that no bit counts; the sums still prove bytes that are right."""
        with Arena() as arena:
            made = format.plant(arena.target, self.right, self.url, [0])
            slots = [Slot(7, marked={0, 1, 2}), Slot(7, marked={0, 3})]
            format.write_manifest(arena.target, Manifest(made.header, made.sums, slots))
            code, said = self.run(arena)
            with open(arena.target, "rb") as file:
                assert code == 0 and file.read() == self.right.content, f"exit {code}: {said}"


def main():
    haul, failed, done = os.path.abspath(sys.argv[1]), 0, 0
    origin = Origin()
    for chunks in ([0, 1, 2, 3], [0, 2], [3]):
        case = Case(haul, origin, chunks)
        for check in (
                case.without_digest, case.with_digest, case.with_another_digest, case.writable_by_others,
                case.both_slots_of_one_sequence):
            done += 1
            try:
                check()
            except (AssertionError, OSError) as error:
                failed += 1
                print(f"crash: FAILED: planted {chunks}, {check.__name__}: {error}", file=sys.stderr)
    well = "with a digest none became a wrong file, without one none was called verified"
    print(f"crash: {done} planted manifests: " + (f"{failed} FAILED" if failed else well))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
