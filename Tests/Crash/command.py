# SPDX-License-Identifier: Apache-2.0
"""Runs the real command, and says what it came to."""

import os
import shutil
import signal
import subprocess
import tempfile
import threading
from dataclasses import dataclass

from manifest import Version

#: A run that takes longer hangs, which is a finding of its own.
LONGEST = 60.0
#: The exit codes that README documents.
DOCUMENTED = {0, 1, 10, 11, 12, 13, 14, 15, 16, 17, 64, 130}


@dataclass
class Ended:
    #: The exit code, or minus the signal.
    code: int
    errors: str

    @property
    def was_killed(self):
        return self.code == -signal.SIGKILL


class Haul:
    """The command under test. `shim`: the library of Tests/Crash/shim.c, for runs with faults."""

    def __init__(self, path, shim=None):
        self.path = os.path.abspath(path)
        self.shim = shim

    def start(self, *arguments, faults=None, folder=None, log=None):
        environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"}
        if faults is not None:
            environment |= {
                "LD_PRELOAD": self.shim, "HAUL_FAULTS": faults, "HAUL_FAULT_FOLDER": folder, "HAUL_FAULT_LOG": log,
            }
        return Running(subprocess.Popen(
            [self.path, *arguments], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, start_new_session=True))

    def run(self, *arguments, **more):
        return self.start(*arguments, **more).wait()


class Running:
    def __init__(self, process):
        self.process = process
        self._errors = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        self._errors = self.process.stderr.read()

    def ends_within(self, seconds):
        """Whether it ends by itself before that time is over."""
        try:
            self.process.wait(max(0.0, seconds))
            return True
        except subprocess.TimeoutExpired:
            return False

    def kill(self):
        self.process.kill()
        return self.wait()

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def wait(self):
        try:
            self.process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            self._reader.join(5)
            raise AssertionError(f"it hangs; it had said: {self._text()}") from None
        self._reader.join(5)
        self.process.stderr.close()
        return Ended(self.process.returncode, self._text())

    def _text(self):
        return self._errors.decode(errors="replace")


class Arena:
    """A folder with one target in it; removed at the end."""

    def __init__(self, parent=None):
        self.place = tempfile.mkdtemp(prefix="haul-crash.", dir=parent)
        self.folder = os.path.join(self.place, "there")
        os.mkdir(self.folder)
        self.target = os.path.join(self.folder, "f")
        #: What the shim writes.
        self.log = os.path.join(self.place, "calls")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.place, ignore_errors=True)

    @property
    def names(self):
        return sorted(os.listdir(self.folder))


def version(dice, length, name):
    return Version(dice.randbytes(length), f'"{name}-{length}"')


def find_compiler():
    """A C compiler: the system's, or the one that comes with Swift."""
    for name in ("cc", "clang", "gcc"):
        if path := shutil.which(name):
            return path
    swift = shutil.which("swift")
    beside = os.path.join(os.path.dirname(os.path.realpath(swift)), "clang") if swift else ""
    return beside if os.path.exists(beside) else None


def build_shim(folder):
    """Compiles shim.c; None, with a line that says so, where that cannot be."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shim.c")
    compiler = find_compiler()
    if not compiler:
        print("crash: no C compiler, so no faults of system calls")
        return None
    library = os.path.join(folder, "shim.so")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, source, "-ldl"], check=True)
    return library
