"""The runner of processes passes the suite that every runner must pass, with real processes."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from kron.adapters.process.host_runner import HostRunner
from kron.adapters.process.procfs import boot_id, read_stat
from kron.adapters.system_time import system_now
from kron.engine.ledger import HistoryReader
from kron.engine.runs import JobRun
from kron.jobfile.host_job import Command, HostJob, work_of
from kron.rules.job_record import RunKind, RunStart
from kron.rules.policy import Policy
from tests.adapters.process.recorded_runner import within_time
from tests.ports.runner_suite import RUNNER_SUITE, RunnerCheck

GRACE = timedelta(milliseconds=50)
LAST = 'echo $$ > "$0.pid"; read code < "$0.fifo"; exit "$code"'
_IDS = (f"suite-{os.getpid()}-{number}" for number in count(1))  # unlike those of all other tests on this machine


class ProcessTrial:
    """Processes that wait until their exit code is written to a pipe of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pids: dict[str, tuple[int, int]] = {}  # the start ticks and the pid, by the id of the run
        self._runs: list[JobRun] = []
        self._definitions: dict[str, str] = {}

    async def revive(self) -> None:
        history = cast("HistoryReader", SimpleNamespace(definition=self._definitions.get))
        output = self._folder / "output"
        self.runner = HostRunner(output, history, system_now, lost=lambda _, __: None, killed=lambda _: None)
        await self.runner.open()

    async def crash(self) -> None:
        self.runner.detach()
        await self.runner.close(wait=False)

    def run(self, script: str = LAST, *, shell: str = "/bin/sh", grace: timedelta = timedelta(minutes=1)) -> JobRun:
        name = next(_IDS)
        os.mkfifo(self._folder / f"{name}.fifo")
        command = Command((shell, "-c", script, str(self._folder / name)), grace=grace)
        work = work_of(HostJob(name, name, "@reboot", "UTC", None, Policy(), command))
        self._definitions[work.definition_key] = work.definition
        now = system_now()
        start = RunStart(name, name, RunKind.BOOT, None, None, 1, now, work.definition_key, boot_id())
        self._runs.append(JobRun(start, work))
        return self._runs[-1]

    def unheeding_run(self) -> JobRun:
        return self.run(f'trap "" TERM; {LAST}', grace=GRACE)

    def unstartable_run(self) -> JobRun:
        return self.run(shell="/does/not/exist")

    def begun(self) -> list[str]:
        for name in (run.run_id for run in self._runs):
            path = self._folder / f"{name}.pid"
            text = path.read_text() if name not in self._pids and path.exists() else ""
            if text.endswith("\n") and (known := read_stat(int(text))) is not None:
                self._pids[name] = known.ticks, int(text)
        return sorted(self._pids, key=self._pids.__getitem__)

    async def finish(self, run: JobRun, *, succeeded: bool = True) -> None:
        _, pid = self._pids[run.run_id]
        await self._write(self._folder / f"{run.run_id}.fifo", pid, str(int(not succeeded)))
        while _lives(pid):  # the loop gets no turn in which it could hear of it
            time.sleep(0.001)

    async def _write(self, fifo: Path, pid: int, text: str) -> None:
        found: list[int] = []

        def opened() -> bool:
            try:
                found.append(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
            except OSError:  # it has no reader yet
                return not _lives(pid)
            return True

        await self.until(opened)
        for descriptor in found:
            with suppress(BrokenPipeError):  # it was stopped meanwhile
                os.write(descriptor, f"{text}\n".encode())
            os.close(descriptor)

    async def until(self, claim: Callable[[], bool]) -> None:
        while not claim():
            await _pause(0.005)

    async def settle(self) -> None:
        await _pause(0.05)

    async def close(self) -> None:
        """End what is left, also after a check that has failed."""
        self.begun()
        for _, pid in self._pids.values():
            if _lives(pid):
                os.kill(pid, signal.SIGKILL)
        for run in self._runs:
            self.runner.stop(run)
        await self.runner.close(wait=True)


async def _pause(seconds: float) -> None:
    await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=seconds)


def _lives(pid: int) -> bool:
    known = read_stat(pid)
    return known is not None and known.is_alive


@asynccontextmanager
async def trial(folder: Path) -> AsyncIterator[ProcessTrial]:
    found = ProcessTrial(folder)
    await found.revive()
    try:
        yield found
    finally:
        await found.close()


@pytest.mark.parametrize("check", RUNNER_SUITE, ids=lambda check: check.__name__)
def test_processes(check: RunnerCheck, tmp_path: Path) -> None:
    within_time(check(lambda: trial(tmp_path)))
