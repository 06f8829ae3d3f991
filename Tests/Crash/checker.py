# SPDX-License-Identifier: Apache-2.0
"""Holds what a stopped Haul has left against what it should have fetched.

    python3 Tests/Crash/checker.py     checks the checker: manifests that lie must be found
"""

import os
import random
import re
import sys
import tempfile
from pathlib import Path

import manifest as format
from manifest import MISMATCH, NOT_SYNCED, Manifest, Slot, Version


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def findings(target, versions, power_lost=False, damaged=(), is_torn=False):
    """What is wrong with `target`, its part and its manifest; nothing, if all is well.

    versions: every generation that the server has ever offered. power_lost: the page cache is gone, so that a sum may
    be on the disk without its bytes. damaged: chunks that the test itself has spoiled. is_torn: writes may have been
    cut off after any byte, so that a sum may be half of one; it then proves nothing.
    """
    found = []
    final = read(target)
    if final is not None and all(final != version.content for version in versions):
        found.append(f"the final file is no version of it ({len(final)} bytes)")
    manifest = Manifest.read(target + ".haul")
    part = read(target + ".haul-part")
    if manifest is None or part is None:
        return found
    header = manifest.header
    version = next((version for version in versions if version.validator == header.validator), None)
    if version is None or len(version.content) != header.length:
        return [*found, "the manifest is of no version"]
    status = os.stat(target + ".haul-part")
    same_file = (header.device, header.inode) == (status.st_dev & format.MASK, status.st_ino)

    def piece(data, chunk):
        start, end = header.bounds(chunk)
        return data[start:end]

    # By the format's page: what is not inside the data file is missing, whatever is said of it. (Whether it was lost
    # is another question, which `Promise` answers.)
    missing = {chunk for chunk in range(header.count) if header.bounds(chunk)[1] > len(part)}
    excused = missing.union(damaged)
    for chunk, stored in enumerate(manifest.sums):
        if not stored or chunk in excused:
            continue
        if stored != header.sum(chunk, piece(version.content, chunk)):
            if is_torn and stored != header.sum(chunk, piece(part, chunk)):
                continue
            found.append(f"the sum of chunk {chunk} is not that of its bytes")
        elif not power_lost and piece(part, chunk) != piece(version.content, chunk):
            found.append(f"chunk {chunk} has a sum, and other bytes")
    for letter, slot in zip("AB", manifest.slots):
        # What is not synced, or another file's, promises nothing; the sums were held against it above.
        if not slot or slot.flags & NOT_SYNCED or not same_file:
            continue
        for chunk in sorted(slot.marked.difference(excused)):
            if manifest.sums[chunk] and piece(part, chunk) != piece(version.content, chunk):
                found.append(f"slot {letter} marks chunk {chunk}, whose bytes are not there")
        for chunk, size, stored in slot.prefixes:
            wanted = piece(version.content, chunk)[:size]
            if stored != header.sum(chunk, wanted):
                found.append(f"slot {letter} has a wrong sum for the beginning of chunk {chunk}")
            elif header.bounds(chunk)[0] + size <= len(part) and piece(part, chunk)[:size] != wanted:
                found.append(f"slot {letter} claims {size} bytes of chunk {chunk}, which are not there")
    if None not in manifest.slots and manifest.best is None:
        found.append("two slots have one sequence")
    return found


class Promise:
    """The chunks that are durable by a manifest at one time: what must not be lost from then on."""

    def __init__(self, target, may_be_unsynced=False):
        """may_be_unsynced: the newest slot may be on its way to the disk still, so the one before it counts."""
        self.manifest = Manifest.read(target + ".haul")
        slot = self.manifest.best if self.manifest else None
        if may_be_unsynced and slot:
            slot = next((other for other in self.manifest.slots if other and other is not slot), None)
        usable = slot is not None and not slot.flags & (NOT_SYNCED | MISMATCH)
        size = len(read(target + ".haul-part") or b"")
        self.chunks = {
            chunk for chunk in (slot.marked if usable else ())
            if self.manifest.sums[chunk] and self.manifest.header.bounds(chunk)[1] <= size
        }

    @property
    def identity(self):
        header = self.manifest.header
        return header.high, header.low

    def lost(self, target, damaged=()):
        """The chunks that are not promised any more, though neither the file is finished nor another generation has
        begun (which is for the caller to know)."""
        if not self.chunks or os.path.exists(target):
            return set()
        now = Promise(target)
        if now.manifest is None or now.identity != self.identity:
            return self.chunks
        return self.chunks - now.chunks - set(damaged)


# --- The checker, checked --------------------------------------------------------------------------------------------


def _dump():
    """The file of the dump in the format's own page."""
    page = Path(__file__).resolve().parents[2] / "Docs" / "manifest-format.md"
    rows = re.findall(r"^([0-9a-f]{6})  ((?:[0-9a-f]{2} ?)+)", page.read_text(), re.MULTILINE)
    data = bytearray(0xB000)
    for offset, row in rows:
        row = bytes.fromhex(row)
        data[int(offset, 16):int(offset, 16) + len(row)] = row
    # The second copy of the header is told by its first and last line only.
    data[0x1000:0x1FF8] = data[:0xFF8]
    return bytes(data)


def self_test():
    """Raises where the checker would let a wrong manifest pass."""
    def insist(condition, what):
        if not condition:
            raise AssertionError(f"the checker is wrong: {what}")

    # Values that the authors of XXH3 and SplitMix64 publish.
    insist(format.xxh3(b"") == 0x2D06800538D394C2, "XXH3-64 of nothing")
    insist(format.mix(0) == 0xE220A8397B1DCDAF, "SplitMix64 of 0")
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "f")
        with open(target + ".haul", "wb") as file:
            file.write(_dump())
        example = Manifest.read(target + ".haul")
        insist(example is not None and example.header.length == 2621440, "the header of the format's page")
        insist(example.best and example.best.marked == {0, 1}, "the slot of the format's page")
        insist(example.best.prefixes[0][:2] == (2, 300000), "the prefix of the format's page")
        insist(example.encode() == _dump(), "what is read is not what is written")
        os.remove(target + ".haul")

        version = Version(random.Random(1).randbytes(5 * format.CHUNK + 77), '"v"')
        made = format.plant(target, version, "http://127.0.0.1/f", marked=[0, 2, 5], summed=[3])
        insist(not findings(target, [version]), "an honest manifest")
        insist(Promise(target).chunks == {0, 2, 5}, "what an honest manifest promises")

        def lie(what, change, power_lost=True):
            """Spoils what is there by `change`, which returns what undoes it."""
            undo = change()
            insist(findings(target, [version], power_lost), what)
            undo()
            insist(not findings(target, [version], power_lost), f"after {what}")

        def flip(offset):
            def change():
                with open(target + ".haul-part", "r+b") as file:
                    file.seek(offset)
                    byte = file.read(1)[0]
                    file.seek(offset)
                    file.write(bytes([byte ^ 0x10]))
                return change
            return change

        def claim(slot, sums=None):
            def change():
                format.write_manifest(target, Manifest(made.header, sums or made.sums, [made.slots[0], slot]))
                return lambda: format.write_manifest(target, made)
            return change

        wrong_sum = [*made.sums]
        wrong_sum[1] = made.header.sum(1, version.content[:format.CHUNK])
        lie("a bit flipped in a marked chunk", flip(2 * format.CHUNK + 12345))
        lie("a bit flipped in the last byte", flip(len(version.content) - 1))
        lie("a bit flipped in a chunk that has only a sum", flip(3 * format.CHUNK), power_lost=False)
        zeros_with_sum = [*made.sums]
        zeros_with_sum[4] = made.header.sum(4, version.content[4 * format.CHUNK:5 * format.CHUNK])
        lie("a bit of a chunk that is not there", claim(Slot(2, marked={0, 2, 4, 5}), zeros_with_sum))
        lie("an older slot that lies", claim(Slot(0x7FFF, marked={4}), zeros_with_sum))
        lie("a sum of other bytes", claim(None, wrong_sum))
        lie("two slots of one sequence", claim(Slot(1, marked={0})))
        lie("a beginning that is not there", claim(Slot(2, 1, [(1, 9, made.header.sum(1, version.content[
            format.CHUNK:format.CHUNK + 9]))], {0})))
        before = Promise(target)
        format.write_manifest(target, Manifest(made.header, made.sums, [Slot(3, marked={0, 2}), None]))
        insist(before.lost(target) == {5}, "a promise that was taken back")
        format.write_manifest(target, made)
        os.truncate(target + ".haul-part", 2 * format.CHUNK)
        insist(before.lost(target) == {2, 5}, "a part that was cut off")
        os.remove(target + ".haul-part")
        os.remove(target + ".haul")
        insist(before.lost(target) == {0, 2, 5}, "a part that was lost")
        with open(target, "wb") as file:
            file.write(version.content[:-1] + b"\0")
        insist(findings(target, [version]), "a wrong last byte of the final file")


if __name__ == "__main__":
    self_test()
    print("crash: the checker finds manifests that lie")
    sys.exit(0)
