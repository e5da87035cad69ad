"""A program that records when it starts, its records, and a bare loop as the lower bound."""

import os
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import time

from bench.environments import BENCH_HOME

_SOURCE = Path(__file__).with_name("stamp.c")
_ROW = struct.Struct("q24s")


@dataclass(frozen=True, slots=True)
class Stamp:
    """When a process began, and when it was due, or None if it was started without a due time."""

    begun: float
    due: float | None


@dataclass(frozen=True, slots=True)
class Stamps:
    """The program, and the file that it writes to: within reach of every user."""

    program: Path
    file: Path

    @property
    def argv(self) -> tuple[str, str]:
        """What a job is to run."""
        return str(self.program), str(self.file)

    def number(self) -> int:
        """Return how many have begun."""
        return self.file.stat().st_size // _ROW.size

    def take(self) -> list[Stamp]:
        """Return all that have begun, in order, and forget them."""
        rows = [_stamp(*row) for row in _ROW.iter_unpack(self.file.read_bytes())]
        os.truncate(self.file, 0)
        return sorted(rows, key=lambda row: row.begun)


@contextmanager
def stamps() -> Iterator[Stamps]:
    """Return a program of its own and an empty file, gone afterwards."""
    built = build(_SOURCE, ["cc", "-O2", "-static", "-o"])
    with TemporaryDirectory(prefix="kron-bench-", dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        found = Stamps(folder / "stamp", folder / "begun")
        found.program.write_bytes(built.read_bytes())
        found.program.chmod(0o755)
        found.file.touch()
        found.file.chmod(0o666)
        yield found


def build(source: Path, compile_to: list[str]) -> Path:
    """Return the program that a source becomes, made if it is not there yet or older."""
    program = BENCH_HOME / "programs" / source.stem
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        program.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([*compile_to, str(program), str(source)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{compile_to[0]} cannot make {source.name}: {done.stderr.strip()[-200:]}")
    return program


def bare(found: Stamps, processes: int, *, alike: bool = False) -> float:
    """Return the seconds until the last of many has begun by a plain loop that reaps as it goes.

    `alike`: with a session and two output files of its own each, as a job has them.
    """
    found.take()
    files: list[int] = []
    more: dict[str, object] = {}
    if alike:
        files = [os.open(found.file.with_name(f"out{number}"), os.O_CREAT | os.O_WRONLY) for number in range(2)]
        more = {"setsid": True, "file_actions": [(os.POSIX_SPAWN_DUP2, files[n], n + 1) for n in range(2)]}
    begun, alive = time(), 0
    environment = {"PATH": "/usr/bin:/bin"}
    for _ in range(processes):
        os.posix_spawn(found.program, found.argv, environment, **more)  # type: ignore[arg-type]  # mypy cannot tell
        alive += 1
        while alive and os.waitpid(-1, os.WNOHANG)[0]:
            alive -= 1
    for _ in range(alive):
        os.waitpid(-1, 0)
    for file in files:
        os.close(file)
    return found.take()[-1].begun - begun


def _stamp(begun: int, due: bytes) -> Stamp:
    text = due.rstrip(b"\0").decode()
    return Stamp(begun / 1e9, datetime.fromisoformat(text).timestamp() if text else None)
