"""ScriptedHost: consecutive JobEngines on a ledger in memory, a virtual clock and runs that a test ends."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from kron.adapters.memory_ledger import MemoryJobLedger
from kron.adapters.virtual_clock import VirtualClock
from kron.engine.emitter import Emitter, Observers
from kron.engine.jobs.job_engine import JobEngine
from kron.engine.ledger import JobBatch
from kron.engine.ports import Refusal, RunListener, RunObserver
from kron.engine.runs import JobRun
from kron.errors import LedgerWriteError
from kron.instant import Instant
from kron.rules.events import Event
from kron.rules.job_spec import JobSpec
from tests.engine.jobs.restartable_host import MINUTE, NOON, SECOND, Runner


class HoldPoint:
    """Where a ledger may be held."""

    def __init__(self) -> None:
        self.reached, self.opened = asyncio.Event(), asyncio.Event()
        self.opened.set()

    async def pass_through(self) -> None:
        self.reached.set()
        await self.opened.wait()

    def close(self) -> None:
        self.reached.clear()
        self.opened.clear()


class ScriptedLedger(MemoryJobLedger):
    """Keeps the batches; its disk is full, or it takes its time, when a test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.is_full = False
        self.batches: list[JobBatch] = []
        self.appending, self.looking_up = HoldPoint(), HoldPoint()

    async def append(self, batch: JobBatch) -> Sequence[Refusal]:
        await self.appending.pass_through()
        if self.is_full:
            raise LedgerWriteError(path="test", reason="no space")
        self.batches.append(batch)
        return await super().append(batch)

    async def handled(self, since: Mapping[str, Instant]) -> Mapping[str, frozenset[Instant]]:
        found = await super().handled(since)
        await self.looking_up.pass_through()
        return found


class LastingRunner(Runner):
    """Runs last until a test ends them, also when their host crashes."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__(clock)
        self.lasts = None
        self.started: list[str] = []  # identities
        self.has_started = asyncio.Event()

    def start(self, runs: Sequence[JobRun], listener: RunListener[JobRun]) -> None:
        self.started += [run.attempt.identity for run in runs]
        self.has_started.set()
        super().start(runs, listener)

    def detach(self) -> None:
        """Report nothing; what runs goes on."""


class ScriptedHost(RunObserver[JobRun]):
    """One ledger, one machine, and one JobEngine after the other."""

    def __init__(self, **options: Any) -> None:
        self.clock, self.ledger = VirtualClock(NOON - MINUTE), ScriptedLedger()
        self.runner, self.events = LastingRunner(self.clock), list[Event]()
        self.refused: list[Refusal] = []
        self.options, self._lives = options, 0
        self.engine = self._new_engine()

    def _new_engine(self) -> JobEngine:
        self._lives += 1
        emitter, observers = Emitter(self.events.append), Observers[JobRun]([self])
        options = {"slack": 30 * SECOND, **self.options}
        return JobEngine(self.clock, self.ledger, self.runner, emitter, observers, f"life{self._lives}", **options)

    async def begin(self, *specs: JobSpec) -> None:
        await self.engine.open()
        await self.engine.apply(specs)
        await self.engine.recover()
        self.engine.start()
        await self.settle()

    async def crash(self, down: timedelta = timedelta()) -> None:
        """Crash; after a while another engine is there, which is not open yet."""
        await self.engine.crash()
        await self.clock.advance(down)
        self.engine = self._new_engine()

    async def settle(self) -> None:
        await self.clock.advance(timedelta())

    def on_refused(self, refusal: Refusal) -> None:
        self.refused.append(refusal)
