# SPDX-License-Identifier: Apache-2.0
"""A slow, long or lossy way between two network namespaces of the benchmark's own, gone at the end.

The way itself is `haul-link`, the small program beside this: real TCP of the kernel runs over it. Root is needed.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

SERVER_ADDRESS, CLIENT_ADDRESS = "10.213.77.1", "10.213.77.2"


@dataclass(frozen=True)
class Shape:
    """What the link is like. `delay` is one way, in seconds; `loss` is from the server to the client."""

    rate: float  # bits a second
    delay: float
    loss: float = 0.0
    seed: int = 1
    congestion: str = "cubic"

    def arguments(self):
        return ["--rate", f"{self.rate:.0f}", "--delay", str(self.delay), "--loss", str(self.loss),
                "--seed", str(self.seed)]


def why_not():
    """Why there can be no link here, in one line; None where there can."""
    if os.geteuid() != 0:
        return "the emulated link needs root (network namespaces and TUN devices)"
    if not Path("/dev/net/tun").exists():
        return "the emulated link needs /dev/net/tun"
    if shutil.which("ip") is None:
        return "the emulated link needs ip (Scripts/deps.sh bench installs iproute2)"
    return None


class Link:
    """Two namespaces, `server` and `client`, with a link between them, while the `with` block lasts."""

    def __init__(self, program, shape):
        self.program = str(program)
        self.shape = shape
        number = os.getpid()
        self.server, self.client = f"haul-s{number}", f"haul-c{number}"
        self.process = None
        self.counts = None

    def __enter__(self):
        try:
            self._make()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, *_):
        self._remove()

    def inside(self, namespace, command):
        """The command line that runs `command` in a namespace."""
        return ["ip", "netns", "exec", namespace, *command]

    def _make(self):
        number = os.getpid() % 100000
        devices = {self.server: (f"hls{number}", SERVER_ADDRESS, CLIENT_ADDRESS),
                   self.client: (f"hlc{number}", CLIENT_ADDRESS, SERVER_ADDRESS)}
        self.process = subprocess.Popen(
            [self.program, "--server", devices[self.server][0], "--client", devices[self.client][0],
             *self.shape.arguments()],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True, text=True)
        if self.process.stdout.readline().strip() != "ready":
            raise RuntimeError("haul-link did not start")
        _allow(self.shape.congestion)
        for namespace, (device, address, peer) in devices.items():
            _ip("netns", "add", namespace)
            _ip("link", "set", device, "netns", namespace)
            _ip("-n", namespace, "link", "set", "lo", "up")
            _ip("-n", namespace, "addr", "add", address, "peer", peer, "dev", device)
            _ip("-n", namespace, "link", "set", device, "mtu", "1500", "up")
            self._sysctl(namespace, "net.ipv4.tcp_congestion_control", self.shape.congestion)
            # Nothing that one run has learned about the way is to help the next.
            self._sysctl(namespace, "net.ipv4.tcp_no_metrics_save", "1")

    def _sysctl(self, namespace, name, value):
        subprocess.run(self.inside(namespace, ["sysctl", "-q", "-w", f"{name}={value}"]), check=True)

    def _remove(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            try:
                words, _ = self.process.communicate(timeout=10)
                with contextlib.suppress(ValueError):
                    self.counts = json.loads(words)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None
        for namespace in (self.server, self.client):
            subprocess.run(["ip", "netns", "del", namespace], check=False, stderr=subprocess.DEVNULL)


def _allow(congestion):
    """Namespaces may use only what the machine allows to all; what was there stays allowed."""
    path = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
    with contextlib.suppress(OSError):
        allowed = path.read_text().split()
        if congestion not in allowed:
            path.write_text(" ".join([*allowed, congestion]))


def _ip(*words):
    subprocess.run(["ip", *words], check=True)
