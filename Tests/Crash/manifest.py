# SPDX-License-Identifier: Apache-2.0
"""Reads and writes `NAME.haul` by what Docs/manifest-format.md says, and by nothing else.

Nothing of Haul's own code is used, so that a mistake there cannot hide itself here. What is shared is libxxhash, a
library of others, which is held against known values first.
"""

import ctypes
import ctypes.util
import hashlib
import os
import struct
import sys
from dataclasses import dataclass, field

PAGE = 4096
CHUNK = 1 << 20
MASK = (1 << 64) - 1
CLEAN_STOP, MISMATCH, NOT_SYNCED = 1, 2, 4
PREFIX_ROOM = 12288


# --- Hashes ----------------------------------------------------------------------------------------------------------


def _load_xxhash():
    # Homebrew keeps it where no loader looks.
    for name in (ctypes.util.find_library("xxhash"), "libxxhash.so.0", "/opt/homebrew/lib/libxxhash.dylib"):
        try:
            library = ctypes.CDLL(name) if name else None
        except OSError:
            continue
        if library:
            break
    else:
        sys.exit("crash: there is no libxxhash to check sums with, so nothing from outside")
    call = library.XXH3_64bits_withSeed
    call.restype = ctypes.c_uint64
    call.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
    return call


_xxh3 = _load_xxhash()


def xxh3(data, seed=0):
    return _xxh3(bytes(data), len(data), seed)


def mix(value):
    """SplitMix64, as the format's page spells it out."""
    value = (value + 0x9E3779B97F4A7C15) & MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)


def chunk_seed(high, low, index):
    return mix((high + mix(low ^ mix(index))) & MASK)


# --- The format ------------------------------------------------------------------------------------------------------


class Unreadable(Exception):
    """A page or slot that a reader has to refuse."""


def pages(size):
    return (size + PAGE - 1) // PAGE * PAGE


@dataclass
class Header:
    high: int
    low: int
    length: int
    device: int
    inode: int
    validator: bytes = bytes(32)
    validator_kind: int = 0
    digest: bytes = b""
    digest_kind: int = 0
    source: bytes = b""
    chunk_size: int = CHUNK
    created: int = 0

    @property
    def count(self):
        return -(-self.length // self.chunk_size)

    @property
    def slot_size(self):
        return pages(64 + PREFIX_ROOM + 8 * -(-self.count // 64) + 8)

    @property
    def slot_offsets(self):
        first = 2 * PAGE + pages(8 * self.count)
        return [first, first + self.slot_size]

    def bounds(self, chunk):
        start = chunk * self.chunk_size
        return start, min(start + self.chunk_size, self.length)

    def sum(self, chunk, data):
        """What the sums say of a chunk with these bytes."""
        return xxh3(data, chunk_seed(self.high, self.low, chunk)) or 1

    def encode(self):
        page = bytearray(PAGE)
        struct.pack_into(
            "<8sI4xQQqQQQQQBBBxI32s64s8x", page, 0, b"HAULMAN1", 1, self.high, self.low, self.created, self.length,
            self.chunk_size, self.count, self.device, self.inode, self.validator_kind, self.digest_kind,
            len(self.digest), len(self.source), self.validator, self.digest)
        page[192:192 + len(self.source)] = self.source
        struct.pack_into("<Q", page, 4088, xxh3(page[:4088]))
        return bytes(page)

    @staticmethod
    def decode(page):
        if len(page) != PAGE or page[:8] != b"HAULMAN1":
            raise Unreadable("no magic")
        if struct.unpack_from("<Q", page, 4088)[0] != xxh3(page[:4088]):
            raise Unreadable("hash of the page")
        (version, high, low, created, length, chunk_size, count, device, inode, validator_kind, digest_kind,
         digest_size, source_size, validator, digest) = struct.unpack_from("<I4xQQqQQQQQBBBxI32s64s8x", page, 8)
        if version != 1 or source_size > 2048 or digest_size > 64:
            raise Unreadable("version or sizes")
        if any(page[12:16]) or page[83] or any(page[184:192]) or any(page[192 + source_size:4088]):
            raise Unreadable("a reserved byte is not 0")
        header = Header(
            high, low, length, device, inode, validator, validator_kind, digest[:digest_size], digest_kind,
            bytes(page[192:192 + source_size]), chunk_size, created)
        if bin(chunk_size).count("1") != 1 or count != header.count:
            raise Unreadable("chunk count")
        return header


@dataclass
class Slot:
    sequence: int
    flags: int = 0
    prefixes: list = field(default_factory=list)
    marked: set = field(default_factory=set)

    def encode(self, header):
        slot = bytearray(header.slot_size)
        words = -(-header.count // 64)
        struct.pack_into(
            "<8sQQQIIQ16x", slot, 0, b"HAULSLT1", header.high, header.low, self.sequence, self.flags,
            len(self.prefixes), words)
        for index, prefix in enumerate(self.prefixes):
            struct.pack_into("<QQQ", slot, 64 + 24 * index, *prefix)
        for chunk in self.marked:
            slot[64 + PREFIX_ROOM + chunk // 8] |= 1 << chunk % 8
        struct.pack_into("<Q", slot, len(slot) - 8, xxh3(slot[:-8]))
        return bytes(slot)

    @staticmethod
    def decode(data, header):
        if len(data) != header.slot_size or data[:8] != b"HAULSLT1":
            raise Unreadable("no magic")
        if struct.unpack_from("<Q", data, len(data) - 8)[0] != xxh3(data[:-8]):
            raise Unreadable("hash of the slot")
        high, low, sequence, flags, prefix_count, words = struct.unpack_from("<QQQIIQ", data, 8)
        if (high, low) != (header.high, header.low) or flags & ~7 or words != -(-header.count // 64):
            raise Unreadable("id, flags or size")
        if prefix_count > 512 or prefix_count and not flags & CLEAN_STOP or not sequence:
            raise Unreadable("prefixes or sequence")
        bitmap = int.from_bytes(data[64 + PREFIX_ROOM:64 + PREFIX_ROOM + 8 * words], "little")
        if bitmap >> header.count:
            raise Unreadable("a bit past the end")
        prefixes = [struct.unpack_from("<QQQ", data, 64 + 24 * index) for index in range(prefix_count)]
        marked = {chunk for chunk in range(header.count) if bitmap >> chunk & 1}
        return Slot(sequence, flags, prefixes, marked)


@dataclass
class Manifest:
    header: Header
    sums: list
    #: A slot, or None where it cannot be read.
    slots: list

    @property
    def best(self):
        """The slot that counts, or None."""
        valid = [slot for slot in self.slots if slot]
        if len({slot.sequence for slot in valid}) < len(valid):
            return None
        return max(valid, key=lambda slot: slot.sequence, default=None)

    @staticmethod
    def read(path):
        """None where there is no such file or no header in it can be read."""
        try:
            with open(path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return None
        header = None
        for offset in (0, PAGE):
            try:
                header = header or Header.decode(data[offset:offset + PAGE])
            except Unreadable:
                pass
        if not header:
            return None
        room = data[2 * PAGE:2 * PAGE + 8 * header.count].ljust(8 * header.count, b"\0")
        slots = []
        for offset in header.slot_offsets:
            try:
                slots.append(Slot.decode(data[offset:offset + header.slot_size], header))
            except Unreadable:
                slots.append(None)
        return Manifest(header, list(struct.unpack(f"<{header.count}Q", room)), slots)

    def encode(self):
        """All bytes of the file; a slot of None stays blank."""
        header = self.header
        data = bytearray(header.slot_offsets[1] + header.slot_size)
        data[:2 * PAGE] = 2 * header.encode()
        struct.pack_into(f"<{header.count}Q", data, 2 * PAGE, *self.sums)
        for offset, slot in zip(header.slot_offsets, self.slots):
            if slot:
                data[offset:offset + header.slot_size] = slot.encode(header)
        return bytes(data)


# --- Planting --------------------------------------------------------------------------------------------------------


def plant(target, version, source, marked, summed=(), dice=None, flags=0):
    """Makes `target`'s part and manifest as a former run would have left them: the chunks in `marked` are there and
    marked, those in `summed` are there with a sum and no bit. Everything else of the part is a hole."""
    content = version.content
    descriptor = os.open(target + ".haul-part", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    status = os.fstat(descriptor)
    numbers = dice.getrandbits(128) if dice else 0x1122334455667788_99AABBCCDDEEFF00
    header = Header(
        numbers >> 64, numbers & MASK, len(content), status.st_dev & MASK, status.st_ino, version.validator, 1,
        source=source.encode())
    sums = [0] * header.count
    for chunk in [*marked, *summed]:
        start, end = header.bounds(chunk)
        os.pwrite(descriptor, content[start:end], start)
        sums[chunk] = header.sum(chunk, content[start:end])
    os.ftruncate(descriptor, len(content))
    os.fsync(descriptor)
    os.close(descriptor)
    manifest = Manifest(header, sums, [Slot(1, flags, [], set(marked)), None])
    write_manifest(target, manifest)
    return manifest


def write_manifest(target, manifest):
    descriptor = os.open(target + ".haul", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(descriptor, manifest.encode())
    os.fsync(descriptor)
    os.close(descriptor)


@dataclass
class Version:
    """One generation of a file: what a server offers at one time."""

    content: bytes
    etag: str

    @property
    def validator(self):
        return hashlib.sha256(self.etag.encode()).digest()
