# SPDX-License-Identifier: Apache-2.0
"""Runs commands in turn and measures each as a whole process: wall clock, CPU, peak memory."""

import os
import select
import signal
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, List, Optional

# In seconds. A command that takes longer hangs; the benchmark must end all the same.
TIME_LIMIT = 900.0


class Failure(Exception):
    """A run that did not do what it was asked to; its text goes into the report."""


@dataclass
class Sample:
    wall: float  # seconds
    cpu: float  # seconds, user and system, all threads
    peak: int  # bytes of resident memory


@dataclass
class Entry:
    """One command of a comparison, and how to see that it did its work."""

    name: str
    command: List[str]
    # Looked at after every run, outside of the measured time: raises Failure if the result is wrong.
    check: Callable[[bytes], None]
    # Looked at before that: cheap signs of a wrong result.
    glance: Callable[[], None] = lambda: None
    # Done right before every run, outside of the measured time.
    prepare: Callable[[], None] = lambda: None
    # Removes what the run left, outside of the measured time; None if a run leaves nothing.
    clean: Optional[Callable[[], None]] = None
    time_limit: float = TIME_LIMIT
    samples: List[Sample] = field(default_factory=list)
    checks: int = 0
    failure: Optional[str] = None
    # Why it was not run at all, for example because the tool is missing.
    absent: Optional[str] = None

    def values(self, what):
        return [getattr(sample, what) for sample in self.samples]

    def median(self, what):
        """None without figures to compare: a fast way to a wrong result is worth nothing."""
        return statistics.median(self.values(what)) if self.samples and self.failure is None else None


def quiet_environment(home):
    """No proxy may stand in a loopback's way, and nobody's ~/.curlrc may change a command."""
    kept = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    return dict(kept, LC_ALL="C", HOME=str(home), CURL_HOME=str(home))


def run_once(command, environment, scratch, time_limit=TIME_LIMIT):
    """Runs the command to its end. Returns what was measured, and its standard output; raises Failure."""
    output, errors = Path(scratch, "stdout"), Path(scratch, "stderr")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    redirect = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(output), flags, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, str(errors), flags, 0o600),
    ]
    begin = time.perf_counter()
    # posix_spawn rather than subprocess: the price of starting is small, and the same for all.
    process = os.posix_spawnp(command[0], command, environment, file_actions=redirect)
    try:
        timed_out = not _wait_until_ended(process, time_limit)
        if timed_out:
            os.kill(process, signal.SIGKILL)
    except BaseException:
        # Ctrl-C in the middle: a command that goes on would write into a folder that is about to go.
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        raise
    _, status, usage = os.wait4(process, 0)
    wall = time.perf_counter() - begin
    if timed_out:
        raise Failure(f"killed after {time_limit:.0f} s")
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        tail = errors.read_text(errors="replace").strip().splitlines()[-1:]
        raise Failure(f"exit {code}: {tail[0] if tail else 'nothing on standard error'}")
    # Linux counts in KiB, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    sample = Sample(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit)
    return sample, output.read_bytes()


def _wait_until_ended(process, time_limit):
    """Whether the process ended in time. It stays a zombie, so that wait4 still finds its usage."""
    if not hasattr(os, "pidfd_open"):
        return True  # macOS: wait4 waits, without a limit
    try:
        handle = os.pidfd_open(process)
    except OSError:
        return True  # an old or a walled-in kernel: the same
    try:
        return bool(select.select([handle], [], [], time_limit)[0])
    finally:
        os.close(handle)


def measure_in_turn(entries, rounds, environment, scratch, progress):
    """One warm-up of each entry, then the rounds: A B C, A B C, … An entry that fails takes no further part."""

    def clean(entry):
        if entry.clean is not None:
            entry.clean()
            # What is left to write must not be paid for by whoever comes next.
            os.sync()

    def run(entry, is_warm_up):
        try:
            entry.prepare()
            sample, output = run_once(entry.command, environment, scratch, entry.time_limit)
            entry.glance()
            entry.check(output)
            entry.checks += 1
            if not is_warm_up:
                entry.samples.append(sample)
        except (Failure, OSError) as error:
            entry.failure = str(error)
        finally:
            clean(entry)

    for number in range(rounds + 1):
        for entry in entries:
            if entry.failure is None and entry.absent is None:
                progress(f"{'warm-up' if number == 0 else f'round {number}/{rounds}'}: {entry.name}")
                run(entry, is_warm_up=number == 0)


def floor(environment, scratch):
    """What a program that does nothing costs here: below its memory, a peak cannot be told.

    A spawned process starts out with its parent's pages, so this parent's size is the least peak that the kernel
    reports.
    """
    samples = [run_once(["true"], environment, scratch)[0] for _ in range(20)]
    return Sample(
        statistics.median(sample.wall for sample in samples),
        statistics.median(sample.cpu for sample in samples),
        max(sample.peak for sample in samples),
    )


def first_line(command):
    """The first line that a command prints, for the record; empty if there is no such command."""
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout.decode(errors="replace").splitlines() or [""])[0].strip()
