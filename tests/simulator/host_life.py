"""Simulate the engine of krond on a virtual clock, with the stops and freezes of a scenario.

The same scenario gives the same trace, byte by byte.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from functools import partial
from random import Random
from typing import NamedTuple

from kron.adapters.memory_ledger import MemoryJobLedger
from kron.adapters.virtual_clock import VirtualClock
from kron.engine.active_runs import ActiveRuns
from kron.engine.emitter import Emitter, Observers
from kron.engine.jobs.control import Recover
from kron.engine.jobs.declaration import JobDeclaration
from kron.engine.jobs.planner import PeriodPlanner
from kron.engine.ledger import JobBatch
from kron.engine.loop import Engine
from kron.engine.ports import Refusal, RunListener
from kron.engine.runs import JobRun, RunResult
from kron.instant import SECOND, ZERO, Instant
from kron.rules.events import Event
from kron.rules.job_record import RunHandle
from kron.rules.job_spec import JobSpec
from kron.simulator.simulation import VirtualLoop
from kron.theory.trace_format import TraceHeader, TracePosition
from kron.trace.job_recorder import JobRecorder

_DAY = timedelta(days=1)
_LONGEST_FREEZE = 20  # times the slack
_FAILING = 0.1  # of the runs
_SLOW = 0.3  # of the runs; the others end at once

HEADER = TraceHeader("kron")


class Place(Enum):
    """Where a standstill finds the loop."""

    ASLEEP = "asleep"
    IN_A_STEP = "in a step"
    IN_AN_APPEND = "in an append"
    AT_THE_DISK = "at the disk"  # the append takes that long, and the process runs


class Standstill(NamedTuple):
    """A time in which a host did nothing: a stall, if it is at most its slack, or a freeze."""

    place: Place
    began: Instant
    ended: Instant


@dataclass(frozen=True, slots=True)
class HostScenario:
    """Jobs with periods, a span of time, a seed, and how often a day the host stalls, freezes, waits for its disk."""

    works: tuple[JobSpec, ...]
    start: Instant
    span: timedelta
    seed: int = 0
    slack: timedelta = timedelta(seconds=30)
    longest_run: timedelta = timedelta(minutes=3)
    stalls: float = 12.0
    freezes: float = 12.0
    slow_appends: float = 6.0


class HostLife(NamedTuple):
    """What happened in a simulation: what the ledger has, when the host stood still, and its events."""

    ledger: MemoryJobLedger
    standstills: Sequence[Standstill]
    events: Sequence[Event]


def simulate_host(scenario: HostScenario, take: Callable[[TracePosition], object]) -> HostLife:
    """Live through a scenario; each position of its trace is handed over as it comes."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(_Life(scenario, take).live())


class _Commands:
    """Runs that last as long, and end as well, as drawn when they begin."""

    def __init__(self, clock: VirtualClock, chance: Random, longest: timedelta) -> None:
        self._clock, self._chance, self._longest = clock, chance, longest
        self._running: dict[str, tuple[Instant, RunResult, JobRun, RunListener[JobRun]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, runs: Sequence[JobRun], listener: RunListener[JobRun]) -> None:
        """Begin them."""
        for run in runs:
            lasts = self._chance.random() * self._longest if self._chance.random() < _SLOW else ZERO
            result = RunResult(exit_code=int(self._chance.random() < _FAILING))
            self._running[run.run_id] = self._clock.now() + lasts, result, run, listener
            listener.on_started(run, RunHandle(run.run_id, 1, 1))
            task = asyncio.ensure_future(self._wait(run.run_id, lasts))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _wait(self, run_id: str, lasts: timedelta) -> None:
        await self._clock.sleep(lasts)
        self._end(run_id)

    def _end(self, run_id: str, result: RunResult | None = None) -> None:
        if (found := self._running.pop(run_id, None)) is not None:
            _, drawn, run, listener = found
            listener.on_ended(run, result or drawn)

    async def reattach(self, _: Sequence[JobRun], __: RunListener[JobRun]) -> Collection[str]:
        """Return nothing: it has one life."""
        return ()

    async def catch_up(self, *, stood_still: bool) -> None:  # noqa: ARG002  # all of it is known at once
        """Tell which have ended by now: commands go on while their host stands still."""
        for run_id in [run_id for run_id, (until, _, _, _) in self._running.items() if until <= self._clock.now()]:
            self._end(run_id)

    def stop(self, run: JobRun) -> None:
        """End one."""
        self._end(run.run_id, RunResult(signal="SIGTERM"))

    def detach(self) -> None:
        """Let go of everything."""
        self._running.clear()


class _Recorder(JobRecorder):
    """Also says when a run begins, which is in the middle of a step, and heeds nothing else."""

    def __init__(self, now: Callable[[], Instant], take: Callable[[TracePosition], object]) -> None:
        super().__init__(now, take)
        self.on_step: Callable[[], object] = lambda: None

    def on_refused(self, refusal: Refusal) -> None:
        """Nothing that the planner records contradicts the ledger."""
        raise AssertionError(refusal)

    def on_started(self, runs: Sequence[JobRun]) -> None:
        super().on_started(runs)
        self.on_step()


def _raise(error: BaseException) -> None:
    raise error


class _Ledger(MemoryJobLedger):
    """Says when it is about to remember something."""

    def __init__(self) -> None:
        super().__init__()
        self.on_append: Callable[[], object] = lambda: None

    async def append(self, batch: JobBatch) -> Sequence[Refusal]:
        """Remember the batch."""
        self.on_append()
        return await super().append(batch)


class _Life:
    """One host, from its start to the end of the span."""

    def __init__(self, scenario: HostScenario, take: Callable[[TracePosition], object]) -> None:
        self._scenario = scenario
        self._chance = Random(scenario.seed)
        self._clock = VirtualClock(scenario.start)
        self._ledger = _Ledger()
        self._recorder = _Recorder(self._clock.now, take)
        self._events: list[Event] = []
        self._standstills: list[Standstill] = []
        self._drawn: tuple[Place, timedelta] | None = None  # that waits for a step, or for an append
        self._recorder.on_step = partial(self._stand_still_in, Place.IN_A_STEP)
        self._ledger.on_append = partial(self._stand_still_in, Place.IN_AN_APPEND, Place.AT_THE_DISK)
        runner = _Commands(self._clock, self._chance, scenario.longest_run)
        runs = ActiveRuns[JobRun](self._clock, runner)
        self._book = PeriodPlanner(runs.running, "simulated", boot_id="boot", slack=scenario.slack)
        self._engine = Engine(
            self._clock,
            self._ledger,
            self._book,
            runs,
            Emitter(self._events.append),
            Observers([self._recorder], failed=_raise),
        )

    async def live(self) -> HostLife:
        """Live until the end."""
        scenario, end = self._scenario, self._scenario.start + self._scenario.span
        await self._engine.open()
        await self._engine.apply(lambda now: JobDeclaration(self._book, scenario.works, now, {}))
        await self._engine.apply(partial(Recover, self._book, (), ()))
        self._recorder.on_declared()
        self._engine.arm()
        rates = {"stalls": scenario.stalls, "freezes": scenario.freezes, "slow_appends": scenario.slow_appends}
        total = sum(rates.values())
        while total and (at := self._clock.now() + self._chance.expovariate(total) * _DAY) < end:
            await self._clock.advance_to(at)
            self._suffer(self._chance.choices(list(rates), list(rates.values()))[0])
        await self._clock.advance_to(max(end, self._clock.now()))
        await self._engine.crash()
        return HostLife(self._ledger, self._standstills, self._events)

    def _suffer(self, accident: str) -> None:
        """Stand still now, or in the next step or append."""
        chance, slack = self._chance, self._scenario.slack
        share = chance.random()
        lasts = share * slack if accident == "stalls" else slack + share * (_LONGEST_FREEZE - 1) * slack
        if accident == "slow_appends":
            self._drawn = Place.AT_THE_DISK, lasts
            return
        place = chance.choice((Place.ASLEEP, Place.IN_A_STEP, Place.IN_AN_APPEND))
        if place is Place.ASLEEP:
            self._stand_still(place, lasts)
        else:
            self._drawn = place, lasts

    def _stand_still_in(self, *places: Place) -> None:
        if self._drawn is not None and self._drawn[0] in places:
            drawn, self._drawn = self._drawn, None
            self._stand_still(*drawn)

    def _stand_still(self, place: Place, lasts: timedelta) -> None:
        began = self._clock.now()
        if place is Place.AT_THE_DISK:
            self._clock.delay(lasts)
        else:
            self._clock.freeze(lasts)
        if lasts > SECOND:
            self._standstills.append(Standstill(place, began, self._clock.now()))
