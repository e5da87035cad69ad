"""Daemon: the interface of a cron daemon for benchmarks, and a context in which one runs."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep, time
from typing import Protocol

from bench.disk import disk_folder

MINUTE = 60
_LOOK = 0.02  # seconds
_ENDING = 60.0  # seconds that a daemon has for ending


@dataclass(frozen=True, slots=True)
class Jobs:
    """So many jobs that run the same: at these minutes of every hour (none: at each), as whom, and how long apart."""

    number: int
    argv: tuple[str, str]
    minutes: tuple[int, ...] = ()
    user: str = ""
    window: str = ""

    @property
    def schedule(self) -> str:
        """The five fields."""
        return f"{','.join(map(str, self.minutes)) or '*'} * * * *"


class Daemon(Protocol):
    """A daemon that reads its jobs from a file."""

    def version(self) -> str:
        """Return what it is."""

    def write(self, folder: Path, jobs: list[Jobs]) -> list[str]:
        """Write its files into a folder, and return the command that runs it in the foreground."""

    def is_ready(self, folder: Path, seconds: float) -> bool:
        """Whether it is ready to start jobs, so many seconds after its own start; `folder/said` has its messages."""


@contextmanager
def live(daemon: Daemon, jobs: list[Jobs], *, margin: float = 0.0) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a daemon until it is ready, and for the block. With a margin it starts so many seconds before a minute."""
    with disk_folder() as folder:
        command = daemon.write(folder, jobs)
        if margin:
            wait_until(next_minute(margin) - margin)
        with (folder / "said").open("wb") as said:
            process = subprocess.Popen(
                command, cwd=folder, stdout=subprocess.DEVNULL, stderr=said, env={**os.environ, "TZ": "UTC"}
            )
        begun = monotonic()
        try:
            wait_for(lambda: process.poll() is not None or daemon.is_ready(folder, monotonic() - begun), MINUTE)
            if process.poll() is not None:
                raise RuntimeError((folder / "said").read_text("utf-8", "replace").strip()[-300:] or "it ended at once")
            yield process
        finally:
            end(process)


def end(process: "subprocess.Popen[bytes]") -> None:
    """End a process of ours that may have ended already."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_ENDING)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def next_minute(margin: float) -> int:
    """Return the next beginning of a minute that is not nearer than the margin."""
    return (int(time() + margin) // MINUTE + 1) * MINUTE


def wait_until(at: float) -> None:
    """Wait for a time of the wall clock."""
    sleep(max(0.0, at - time()))


def wait_for(is_so: Callable[[], bool], seconds: float) -> bool:
    """Look again and again; whether it came in time."""
    last = monotonic() + seconds
    while not is_so():
        if monotonic() > last:
            return False
        sleep(_LOOK)
    return True


def family(pid: int) -> list[int]:
    """Return a process and its children, as numbers."""
    return [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split())]


def processor_seconds(pid: int) -> float:
    """Return what a process and its children have used of the processor, without children that have ended."""
    ticks = 0
    for each in family(pid):
        with suppress(ProcessLookupError, FileNotFoundError):  # a child that has just ended
            fields = Path(f"/proc/{each}/stat").read_text("utf-8").rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> float:
    """Return the MiB of a process and its children; what they share counts once."""
    kib = 0
    for each in family(pid):
        with suppress(ProcessLookupError, FileNotFoundError):  # a child that has just ended
            rollup = Path(f"/proc/{each}/smaps_rollup").read_text("ascii")
            kib += next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    return kib / 1024
