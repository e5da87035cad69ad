"""RecordedRunner: a process runner that records its reports and kills all its processes at the end."""

import asyncio
import os
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import pytest

from kron.adapters.process.output import Output, OutputLog
from kron.adapters.process.procfs import list_children, read_stat
from kron.adapters.process.runner import ProcessRunner
from kron.adapters.process.spawner_client import ProcessExit, SpawnRequest
from kron.adapters.process.syslog import Syslog
from kron.jobfile.host_job import Command
from kron.rules.job_record import RunHandle

T = TypeVar("T")
Variables = tuple[tuple[str, str], ...]

_LONGEST = 60  # seconds until a test that waits for something gives up
_RUN_IDS = (f"run-{os.getpid()}-{number}" for number in count(1))  # unlike those of all other tests on this machine

UNPRIVILEGED_USER = "nobody"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="NEEDS ROOT: only root may become another user")


def within_time(body: Coroutine[Any, Any, T]) -> T:
    """Run a test's body; a wait that never ends is an error."""

    async def bounded() -> T:
        async with asyncio.timeout(_LONGEST):
            return await body

    return asyncio.run(bounded())


class RecordedRunner:
    """What a host would know."""

    def __init__(self, folder: Path, *, syslog: Syslog | None = None) -> None:
        self.output_folder = folder / "output"
        self.lost: list[tuple[str, int]] = []
        self.runner = ProcessRunner(
            self.output_folder,
            started=self._on_started,
            ended=self._on_ended,
            lost=lambda run_id, lines: self.lost.append((run_id, lines)),
            syslog=syslog,
        )
        self._started: dict[str, asyncio.Future[RunHandle | None]] = {}
        self._ended: dict[str, asyncio.Future[ProcessExit]] = {}

    def expect(self, run_id: str) -> None:
        """Take note of an execution that will be heard of."""
        loop = asyncio.get_running_loop()
        self._started[run_id] = loop.create_future()
        self._ended[run_id] = loop.create_future()

    def start(self, *argv: str, run_id: str = "", kron: Variables = (), **command: Any) -> str:
        """Start a command, with variables of Kron's; return its id."""
        run_id = run_id or next(_RUN_IDS)
        self.start_many([SpawnRequest(run_id, Command(argv, **command), kron)])
        return run_id

    def start_many(self, starts: Iterable[SpawnRequest]) -> None:
        """Start several at once."""
        starts = list(starts)
        for start in starts:
            self.expect(start.run_id)
        self.runner.start_many(starts)

    async def run(self, *argv: str, **command: Any) -> ProcessExit:
        """Start a command and wait for its end."""
        return await self.ended(self.start(*argv, **command))

    async def says(self, *argv: str, **command: Any) -> str:
        """Start a command, wait for its end, and return its output."""
        run_id = self.start(*argv, **command)
        assert await self.ended(run_id) == ProcessExit(run_id, exit_code=0), self.output(run_id).text()
        return self.output(run_id).text().decode()

    async def started(self, run_id: str) -> RunHandle:
        """Wait until it lives."""
        started = await asyncio.shield(self._started[run_id])
        assert started is not None, await self.ended(run_id)
        return started

    async def ended(self, run_id: str) -> ProcessExit:
        """Wait until it has ended."""
        return await asyncio.shield(self._ended[run_id])

    def has_ended(self, run_id: str) -> bool:
        """Return whether the listener has been called with its end."""
        return self._ended[run_id].done()

    def output(self, run_id: str) -> Output:
        """Return what it wrote so far."""
        return OutputLog(self.output_folder, run_id).read()

    async def close(self) -> None:
        """Kill what is left."""
        for run_id, future in self._ended.items():
            if not future.done():
                self.runner.kill(run_id)
                await self.ended(run_id)
        await self.runner.close()

    def _on_started(self, started: list[RunHandle]) -> None:
        for one in started:
            assert not self._started[one.run_id].done()
            self._started[one.run_id].set_result(one)

    def _on_ended(self, ended: list[ProcessExit]) -> None:
        for one in ended:
            self._ended[one.run_id].set_result(one)
            if not self._started[one.run_id].done():
                self._started[one.run_id].set_result(None)


@asynccontextmanager
async def living(folder: Path, *, syslog: Syslog | None = None) -> AsyncIterator[RecordedRunner]:
    """Return an open runner with a log of its own."""
    runner = RecordedRunner(folder, syslog=syslog)
    await runner.runner.open()
    try:
        yield runner
    finally:
        await runner.close()


async def until(claim: Any) -> None:
    """Wait until something outside has become true: who has no descriptor to wait on is asked again."""
    while not claim():
        await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=0.01)


async def gone(pid: int) -> None:
    """Wait until a process has ended."""
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(pidfd, over.set)
    await over.wait()
    loop.remove_reader(pidfd)
    os.close(pidfd)


def spawners() -> list[int]:
    """Return the spawners that are children of this process."""
    return [pid for pid in list_children() if b"spawner" in _command_line(pid)]


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):  # it has gone meanwhile
        return b""


def zombies() -> list[int]:
    """Return the children of this process that are not reaped."""
    return [pid for pid in list_children() if (known := read_stat(pid)) and not known.is_alive]


async def settled(runner: RecordedRunner, run_id: str) -> None:
    """Wait until the output of an ended execution is final: nothing of it is live."""
    await runner.ended(run_id)
    await until(lambda: runner.output(run_id).is_final)
