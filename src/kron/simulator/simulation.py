"""simulate(scenario, take) -> SimulationSummary: the real scheduler on a virtual clock, from fault to fault."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from random import Random
from selectors import BaseSelector, SelectorKey
from typing import Any

from kron.adapters.virtual_clock import VirtualClock
from kron.errors import LedgerError, SchedulerStepError, ScheduleTaskError
from kron.hosts.library.scheduler import Scheduler, crash, observe
from kron.instant import SECOND, Instant
from kron.rules.contract import InitializeWhileActive
from kron.rules.events import Event
from kron.rules.registration import ScheduleReader
from kron.simulator.scenario import CrashingLedger, Scenario, SimulatedCallbacks, SimulatedJob
from kron.theory.trace_format import TraceEvent, TracePosition
from kron.trace.crash_repair import CrashRepair
from kron.trace.due_events import DueEventInserter
from kron.trace.recorder import TraceRecorder

_DAY = timedelta(days=1)
_PATIENCE = timedelta(hours=6)  # a stop that takes longer ends in a crash, as operators do
_FREEZE = timedelta(minutes=10)
_JUMPS = (timedelta(seconds=5), timedelta(minutes=2), timedelta(hours=2))  # forwards or back, at most so far
_CORRECTION = timedelta(days=5)  # forwards or back, at most so far
_DOWN = timedelta(hours=3)
_MOST_FAULTS = 4
_APPENDS = 4  # a crash at the disk comes in one of so many appends


class VirtualLoop(asyncio.SelectorEventLoop):
    """asyncio's own loop, on a selector that has nothing to tell.

    A year of minutes takes millions of turns, of which none has to ask the operating system for anything.
    """

    def __init__(self) -> None:
        self._nothing = _NoSelector()
        super().__init__(self._nothing)

    def on_idle(self, callback: Callable[[], object] | None) -> None:
        """Call a function whenever the loop would have to wait; None: none."""
        self._nothing.on_idle = callback


class _NoSelector(BaseSelector):
    """Registers files, and never reports one as ready."""

    def __init__(self) -> None:
        self._keys: dict[Any, SelectorKey] = {}
        self.on_idle: Callable[[], object] | None = None

    def register(self, fileobj: Any, events: int, data: Any = None) -> SelectorKey:
        """Remember what to watch."""
        key = self._keys[fileobj] = SelectorKey(fileobj, 0, events, data)
        return key

    def unregister(self, fileobj: Any) -> SelectorKey:
        """Forget it."""
        return self._keys.pop(fileobj)

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        """Return nothing, at once; instead of waiting, call `on_idle`."""
        if timeout != 0 and self.on_idle is not None:
            self.on_idle()
        return []

    def get_map(self) -> Mapping[Any, SelectorKey]:
        """Return the registered files."""
        return self._keys


@dataclass(slots=True)
class SimulationSummary:
    """What happened in a simulation."""

    positions: int = 0
    runs: int = 0
    failures: int = 0
    accidents: dict[str, int] = field(default_factory=dict)


def simulate(
    scenario: Scenario, take: Callable[[TracePosition], object], advance: Callable[[int], object] = lambda _: None
) -> SimulationSummary:
    """Live through a scenario; each position of its trace is handed over as it comes.

    `advance` is called from time to time with how many more seconds have passed.
    """
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(_SimulationRun(scenario, take, advance).run())


class _Silence:
    """A sink that wants no event."""

    def wants(self, _level: str) -> bool:
        return False

    def __call__(self, _event: Event) -> None: ...


class _SimulationRun:
    """One world, and the schedulers that follow each other in it."""

    def __init__(
        self, scenario: Scenario, take: Callable[[TracePosition], object], advance: Callable[[int], object]
    ) -> None:
        self._scenario, self._report_progress = scenario, advance
        self._take = take
        self._chance = Random(scenario.seed)
        self._clock = VirtualClock(scenario.start)
        self._ledger = CrashingLedger(self._chance)
        self._callbacks = SimulatedCallbacks(self._clock, self._chance)
        self._jobs = list(scenario.jobs)
        self._known = len(scenario.jobs)
        self._end = scenario.start + scenario.span
        self._identities = {job.name: job.identity for job in scenario.jobs if job.identity}
        naming = DueEventInserter(scenario.contract, scenario.timezone, self._count, self._identities)
        self._put = CrashRepair(naming if scenario.header.names_dues else self._count)
        self._recorder = TraceRecorder(self._clock.now, self._put_live, self._put_live_runs)
        self._scheduler = self._make_scheduler()
        self._summary = SimulationSummary()

    async def run(self) -> SimulationSummary:
        """Live until the end, then stop."""
        await self._initialize()
        reached = self._clock.now()
        while (at := self._next_accident()) < self._end:
            await self._advance(at)
            await self._inject(self._draw_accident())
            self._report_progress((self._clock.now() - reached) // SECOND)
            reached = self._clock.now()
        await self._advance(self._end)
        await self._stop()
        self._put(TraceEvent(self._recorder.timestamp(), "End", {"closed": False}))
        self._summary.runs, self._summary.failures = self._callbacks.runs, self._callbacks.failures
        return self._summary

    def _put_live(self, position: TraceEvent) -> None:
        """Take a position, unless the process that it is from is dead."""
        if not self._ledger.is_dead:
            self._put(position)

    def _put_live_runs(self, time_ms: int, event: str, names: Sequence[str]) -> None:
        if not self._ledger.is_dead:
            self._put.emit_batch(time_ms, event, names)

    # --- the scheduler's life -----------------------------------------------------------------------------------------

    def _make_scheduler(self) -> Scheduler:
        scenario = self._scenario
        terms = {"contract": scenario.contract, "timezone": scenario.timezone, "dialect": scenario.dialect}
        scheduler = Scheduler(ledger=self._ledger, clock=self._clock, sink=_Silence(), **terms)  # type: ignore[arg-type]
        observe(scheduler, self._recorder)
        if self._identities:  # in the library a task's identity is its name; jobs of a file bring their own
            scheduler._read = ScheduleReader(
                scenario.contract, scenario.dialect, scenario.timezone, identities=self._identities
            )
        return scheduler

    def _count(self, position: TracePosition) -> None:
        self._summary.positions += 1
        self._take(position)

    async def _initialize(self) -> None:
        """Initialise, again and again if the disk fails or the process dies of it."""
        while True:
            registrations = [(job.name, job.cron, self._callbacks.of(job), job.retry_delay) for job in self._jobs]
            initializing = asyncio.ensure_future(self._scheduler.initialize(registrations))
            until = self._clock.now() + _PATIENCE  # it may have to wait for runs of a list that was given up
            await self._clock.advance_until(until, lambda: initializing.done() or self._ledger.is_dead)  # noqa: B023
            if initializing.done() and not initializing.cancelled() and initializing.exception() is None:
                return
            if self._ledger.is_dead or not initializing.done():
                self._ledger.is_dead = True
                _forget(initializing)
                await self._replace_process()
            elif not isinstance(
                error := initializing.exception(), SchedulerStepError | ScheduleTaskError | LedgerError
            ):
                raise error or AssertionError("a simulated call is never cancelled")  # the scenario itself is wrong
            await self._clock.advance(timedelta(seconds=30))

    async def _advance(self, at: Instant) -> None:
        """Let time pass; a process that dies meanwhile is started again."""
        while self._clock.now() < at:
            await self._clock.advance_until(at, lambda: self._ledger.is_dead)
            if self._ledger.is_dead:
                await self._crash()

    async def _crash(self) -> None:
        self._ledger.is_dead = True
        await self._replace_process()
        await self._clock.advance(self._chance.random() * _DOWN)
        await self._initialize()

    async def _replace_process(self) -> None:
        self._count_fault("crash")
        await crash(self._scheduler)
        self._ledger.restart()
        self._recorder.record_crash()
        self._scheduler = self._make_scheduler()

    async def _stop(self) -> None:
        """Stop; if it does not return in hours, or the process dies of it, that is a crash."""
        stopping = asyncio.ensure_future(self._scheduler.stop())
        await self._clock.advance_until(self._clock.now() + _PATIENCE, lambda: stopping.done() or self._ledger.is_dead)
        if self._ledger.is_dead or not stopping.done():
            self._ledger.is_dead = True
            _forget(stopping)
            await self._replace_process()
            return
        stopping.exception()  # what could not be recorded at the end is the next start's affair

    # --- accidents ----------------------------------------------------------------------------------------------------

    def _next_accident(self) -> Instant:
        rates = self._scenario.accidents
        total = sum(getattr(rates, name) for name in rates.__slots__)
        if not total:
            return self._end
        return self._clock.now() + self._chance.expovariate(total) * _DAY

    def _draw_accident(self) -> str:
        rates = self._scenario.accidents
        names = [name for name in rates.__slots__ if getattr(rates, name)]
        return self._chance.choices(names, [getattr(rates, name) for name in names])[0]

    async def _inject(self, accident: str) -> None:
        chance = self._chance
        match accident:
            case "crashes" if chance.random() < 0.5:
                self._ledger.crash_on_append(chance.randint(1, _APPENDS), is_durable_first=chance.random() < 0.5)
            case "crashes":
                await self._crash()
            case "stops":
                self._count_fault("stop")
                await self._stop()
                await self._clock.advance(chance.random() * _DOWN)
                await self._initialize()
            case "changes":
                await self._change()
            case "freezes":
                self._count_fault("freeze")
                self._clock.freeze(chance.random() * _FREEZE)
            case "jumps":
                self._count_fault("jump")
                self._clock.jump((2 * chance.random() - 1) * chance.choice(_JUMPS))
            case "corrections":
                self._count_fault("correction")
                self._clock.jump((2 * chance.random() - 1) * _CORRECTION)
            case _:
                self._count_fault("fault")
                self._ledger.fail_next(chance.randint(1, _MOST_FAULTS))

    async def _change(self) -> None:
        """Go on with another list."""
        if not self._scenario.jobs:
            return
        self._count_fault("change")
        if self._scenario.contract.initialize_while_active is InitializeWhileActive.REJECT:
            await self._stop()
        self._jobs = self._other_jobs()
        await self._initialize()

    def _other_jobs(self) -> list[SimulatedJob]:
        chance, jobs = self._chance, list(self._jobs)
        for _ in range(chance.randint(1, 3)):
            what = chance.randrange(4)
            if what == 0 and len(jobs) > 1:
                jobs.pop(chance.randrange(len(jobs)))
            elif what == 1:
                self._known += 1
                jobs.append(replace(chance.choice(self._scenario.jobs), name=f"another {self._known}"))
            elif what == 2:
                place = chance.randrange(len(jobs))
                jobs[place] = replace(jobs[place], cron=chance.choice(self._scenario.jobs).cron)
            else:
                place = chance.randrange(len(jobs))
                jobs[place] = replace(jobs[place], retry_delay=timedelta(seconds=chance.choice([0, 30, 300, 5400])))
        gone = [job for job in self._scenario.jobs if job.name not in {each.name for each in jobs}]
        if gone and chance.random() < 0.5:
            jobs.append(chance.choice(gone))  # one that was there before comes back
        return jobs

    def _count_fault(self, accident: str) -> None:
        self._summary.accidents[accident] = self._summary.accidents.get(accident, 0) + 1


def _forget(call: "asyncio.Task[None]") -> None:
    """Cancel a call that died with its process, and ignore how it ends."""
    call.add_done_callback(lambda done: done.cancelled() or done.exception())
    call.cancel()
