# SPDX-License-Identifier: Apache-2.0
"""The comparisons with curl, openssl and dd on loopback: what the engine itself costs.

Whole processes are measured (start to end, all threads), entries in turn, after one warm-up each.
"""

import hashlib
import os

from .files import Outputs
from .measure import Entry, Failure
from .report import Goal, ratio

BLOCK = 1 << 20
LARGE_FACTOR = 8
LARGE_GROUPS = ("durable", "long")
# A start takes milliseconds: only many of them tell anything.
VERSION_ROUNDS = 200
COMPARISONS = ("plain", "digest", "tls", "durable", "long", "version")


def size_of(scale):
    """Of the small file, in bytes: whole mebibytes."""
    return max(1, int(1024 * scale)) * BLOCK


def readable(size):
    return f"{size >> 30} GiB" if size % (1 << 30) == 0 else f"{size >> 20} MiB"


class Loopback:
    """The files, the server and the commands; one method for each comparison."""

    def __init__(self, haul, size, folder, server):
        self.haul = haul
        self.size = size
        self.folder = folder
        self.server = server
        self.small = folder / "www" / "small"
        self.large = folder / "www" / "large"
        self.small_digest = None
        self.large_digest = None

    @property
    def sizes(self):
        return {"small": readable(self.size), "large": readable(self.size * LARGE_FACTOR)}

    # --- Files ---

    def make_small(self):
        """Random, so that nothing on the way can compress it; just written, so that it is in the page cache."""
        digest = hashlib.sha256()
        with open(self.small, "wb") as file:
            for start in range(0, self.size, BLOCK):
                block = os.urandom(min(BLOCK, self.size - start))
                digest.update(block)
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
        self.small_digest = digest.hexdigest()

    def make_large(self):
        """All holes: it costs no disk to read, so the runs measure the downloader and the disk that it writes to."""
        with open(self.large, "wb") as file:
            file.truncate(self.size * LARGE_FACTOR)
        digest, zeros = hashlib.sha256(), bytes(BLOCK)
        for start in range(0, self.size * LARGE_FACTOR, BLOCK):
            digest.update(zeros[: self.size * LARGE_FACTOR - start])
        self.large_digest = digest.hexdigest()

    def touch_memory(self):
        """Writes and removes a file as large as the small one, so that the page cache of the next run takes memory
        that was just in use. In a virtual machine memory that has lain idle is handed out by the host page by page,
        which costs more than everything measured here, and costs whoever happens to come first."""
        path = self.folder / "touch"
        block = bytes(1 << 20)
        with open(path, "wb", buffering=0) as file:
            for _ in range(self.size // len(block) + 64):
                file.write(block)
        path.unlink()

    # --- Entries ---

    def writes(self, name, original, make_command):
        """An entry that writes a file, which must equal the original."""
        output = Outputs(self.folder / "out", original)
        prepare = self.touch_memory if original == self.small else lambda: None
        return output.entry(name, make_command(str(output.path)), prepare)

    def haul_entry(self, name, original, url, *options):
        return self.writes(name, original, lambda output: [self.haul, *options, "-o", output, url])

    def curl_entry(self, name, original, url, *options):
        # -q: whatever stands in a ~/.curlrc stays out of this.
        command = ["curl", "-q", "-s", "-f", *options]
        return self.writes(name, original, lambda output: [*command, "-o", output, url])

    def openssl_entry(self, path, digest):
        def check(output):
            if digest not in output.decode(errors="replace"):
                raise Failure("WRONG DIGEST")

        return Entry("openssl dgst -sha256 FILE", ["openssl", "dgst", "-sha256", str(path)], check)

    def version_entry(self, program, name):
        def check(output):
            if not output.strip():
                raise Failure("printed nothing")

        return Entry(f"{name} --version", [program, "--version"], check)

    # --- Comparisons ---

    def plain(self):
        url = self.server.url("small")
        haul = self.haul_entry("haul --no-sync --no-digest", self.small, url, "--no-sync", "--no-digest")
        curl = self.curl_entry("curl -o", self.small, url)
        return "The bytes alone: {small}, plain HTTP", [haul, curl], lambda: [
            Goal("wall, haul / curl", ratio(haul.median("wall"), curl.median("wall")), 0.75),
            Goal("CPU, haul / curl", ratio(haul.median("cpu"), curl.median("cpu")), 0.85),
        ]

    def digest(self):
        url, options = self.server.url("small"), ("--no-sync", "--sha256", self.small_digest)
        haul = self.haul_entry("haul --no-sync --sha256", self.small, url, *options)
        openssl = self.openssl_entry(self.small, self.small_digest)
        return "Verified: {small}, plain HTTP, against the digest of a local file", [haul, openssl], lambda: [
            Goal("wall, haul / openssl", ratio(haul.median("wall"), openssl.median("wall")), 1.25),
        ]

    def tls(self):
        url, trust = self.server.tls_url("small"), ("--cacert", str(self.server.certificate))
        options = (*trust, "--no-sync", "--sha256", self.small_digest)
        haul = self.haul_entry("haul --no-sync --sha256 (TLS)", self.small, url, *options)
        curl = self.curl_entry("curl -o (TLS), no digest", self.small, url, *trust)
        return "Verified over TLS: {small}, against curl without any digest", [haul, curl], lambda: [
            Goal("wall, haul / curl", ratio(haul.median("wall"), curl.median("wall")), 1.2),
        ]

    def durable(self):
        url, options = self.server.url("large"), ("--sha256", self.large_digest)
        haul = self.haul_entry("haul --sha256", self.large, url, *options)
        blocks = self.size * LARGE_FACTOR // BLOCK
        dd = self.writes("dd bs=1M conv=fsync", self.large, lambda output: [
            "dd", "if=/dev/zero", f"of={output}", "bs=1048576", f"count={blocks}", "conv=fsync", "status=none"])
        openssl = self.openssl_entry(self.large, self.large_digest)

        def goals():
            sides = [dd.median("wall"), openssl.median("wall")]
            slower = None if None in sides else max(sides)
            return [Goal("wall, haul / the larger of dd and openssl", ratio(haul.median("wall"), slower), 1.15)]

        return "Durable and verified: {large}", [haul, dd, openssl], goals

    def long(self):
        small_url, large_url = self.server.url("small"), self.server.url("large")
        name, options = "haul --no-sync --no-digest", ("--no-sync", "--no-digest")
        haul_small = self.haul_entry(name + ", {small}", self.small, small_url, *options)
        haul = self.haul_entry(name + ", {large}", self.large, large_url, *options)
        # No goal: it shows what this machine's disk does to anybody's file of this size.
        curl = self.curl_entry("curl -o, {large}", self.large, large_url)

        def goals():
            one = haul_small.median("wall")
            eight = None if one is None else LARGE_FACTOR * one
            return [
                Goal(f"wall, {{large}} / {LARGE_FACTOR} x {{small}}", ratio(haul.median("wall"), eight), 1.1),
                Goal("wall, haul / curl", ratio(haul.median("wall"), curl.median("wall"))),
            ]

        return "Size changes nothing: {large}, the bytes alone", [haul_small, haul, curl], goals

    def version(self):
        haul, curl = self.version_entry(self.haul, "haul"), self.version_entry("curl", "curl")
        return "Start to end of a command that does nothing", [haul, curl], lambda: [
            Goal("wall, haul / curl", ratio(haul.median("wall"), curl.median("wall")), 1.6),
        ]
