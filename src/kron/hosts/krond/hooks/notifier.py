"""Notifier: the hooks and pings of a daemon's jobs: what is told, to whom, and what became of it."""

import asyncio
import secrets
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from kron.adapters.process_runner.execution import Start
from kron.adapters.process_runner.proc import HOOK_ID
from kron.adapters.sqlite_ledger.job_failures import failing_jobs, waiting_rows
from kron.engine.emitter import Emitter
from kron.hosts.krond.hooks.alarms import Alarms
from kron.hosts.krond.hooks.errand import Errand
from kron.hosts.krond.hooks.http_call import HttpCaller, Request
from kron.hosts.krond.hooks.messenger import Messenger
from kron.hosts.krond.processes import Processes
from kron.rules.files.host_job import Call, HostJob, Program

if TYPE_CHECKING:
    from kron.adapters.metrics_sink import JobMetrics

LIMIT = 10.0  # seconds for each try


class Notifier:
    """Composition: `alarms` is the chronicle that brings errands; what fails is an event, and counted."""

    def __init__(self, processes: Processes, emitter: Emitter, metrics: "JobMetrics | None") -> None:
        self._processes, self._emitter, self._metrics = processes, emitter, metrics
        self._caller = HttpCaller(LIMIT)
        self._messenger = Messenger(self._deliver, self._failed)
        self._life, self._numbers = secrets.token_hex(4), count(1)
        self.alarms = Alarms(self._messenger.send)
        self.hurry = self._messenger.hurry
        self.close = self._messenger.close

    async def learn(self, jobs: Iterable[HostJob], ledger: Path) -> None:
        """Find out which jobs are failing, as soon as there is one whose recovery is to be told."""
        if not self.alarms.has_learnt and any(job.hooks.on_recovery for job in jobs):
            self.alarms.learn(await asyncio.to_thread(failing_jobs, ledger))

    async def recall(self, jobs: Mapping[str, HostJob], ledger: Path) -> None:
        """Find out what is to be tried again: if that is given up, somebody may want to hear of it."""
        if any(job.hooks.on_failure or job.hooks.ping for job in jobs.values()):
            self.alarms.recall(jobs, await asyncio.to_thread(waiting_rows, ledger))

    async def _deliver(self, errand: Errand) -> str:
        match errand.to:
            case Program(argv):
                return await self._run(errand, argv)
            case Call(url):
                headers = (("Content-Type", "application/json"), ("X-Kron-Event", errand.event))
                return await self._caller.call(Request("POST", url, errand.body().encode(), headers))
            case ping:
                return await self._caller.call(Request("GET", ping.address()))

    async def _run(self, errand: Errand, argv: tuple[str, ...]) -> str:
        name = f"hook-{self._life}-{next(self._numbers)}"
        start = Start(name, errand.command(argv), errand.variables(), HOOK_ID)
        ended = await self._processes.run_aside(start, LIMIT)
        if ended is None:
            return f"it had not ended after {LIMIT:g} s"
        if ended.exit_code == 0:
            return ""
        return ended.not_started or (f"it ended by {ended.signal}" if ended.signal else f"exit code {ended.exit_code}")

    def _failed(self, errand: Errand, error: str, tries: int) -> None:
        if self._metrics is not None:
            self._metrics.on_hook_failure()
        job = errand.job
        self._emitter.tell(
            "HookFailed",
            identity=job.identity,
            name=job.name,
            hook=errand.event,
            target=errand.target,
            error=error,
            tries=tries,
        )
