"""Scenario: jobs, fault rates and how callbacks behave; the failing ledger and the misbehaving callbacks."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from random import Random
from typing import Any, Literal

from kron.adapters.memory_ledger import MemoryTaskLedger
from kron.adapters.passing_ledger import FaultyLedger
from kron.adapters.virtual_clock import VirtualClock
from kron.cron.dialect import POSIX
from kron.cron.expression import Expression, parse
from kron.decision.timing import Timing
from kron.engine.ports import Refusal, TaskBatch
from kron.instant import Instant
from kron.jobfile.host_job import HostJob
from kron.rules.contract import DEFAULT, Contract
from kron.theory.trace_format import TraceHeader

_HANG = timedelta(days=3)
_SHORT = timedelta(seconds=1)
_TURNS = 0.25  # of the appends take a turn of the event loop


@dataclass(frozen=True, slots=True)
class CallbackBehaviour:
    """How a task's callback behaves: the shares of its runs that take time, fail, or hang."""

    slow: float = 0.3
    longest: timedelta = timedelta(minutes=20)  # that a slow one takes
    failing: float = 0.15
    hanging: float = 0.0


@dataclass(frozen=True, slots=True)
class FaultRates:
    """How often things happen, in times a day."""

    crashes: float = 1.0
    stops: float = 0.5
    changes: float = 0.5  # a stop, or a reload where the contract has it, and a list with tasks added, removed, changed
    freezes: float = 0.5
    jumps: float = 0.2  # of the clock, forwards or back
    faults: float = 0.5  # of the ledger
    corrections: float = 0.0  # of a clock that was wrong by days, forwards or back


@dataclass(frozen=True, slots=True)
class SimulatedJob:
    """A task of the scenario; `cron` is an expression or, in the extended dialect, a whole schedule line."""

    name: str
    cron: str
    retry_delay: timedelta = timedelta(minutes=5)
    behaviour: CallbackBehaviour = field(default_factory=CallbackBehaviour)
    identity: str = ""  # that enters its seeds; empty: its name


@dataclass(frozen=True, slots=True)
class Scenario:
    """Jobs, a span of time, and a seed."""

    jobs: tuple[SimulatedJob, ...]
    start: Instant
    span: timedelta
    seed: int = 0
    contract: Contract = DEFAULT
    timezone: str = "UTC"
    accidents: FaultRates = field(default_factory=FaultRates)
    dialect: Literal["extended", "posix"] = "posix"

    @property
    def header(self) -> TraceHeader:
        """What the trace begins with: in the extended dialect lines may have windows, and the trace names its Dues."""
        return TraceHeader(self.contract.name, self.timezone, names_dues=self.dialect == "extended")


def jobs_of_registrations(
    registrations: Sequence[Sequence[Any]], behaviour: CallbackBehaviour
) -> tuple[SimulatedJob, ...]:
    """Return the jobs of a list that the library would accept; callbacks are replaced by drawn ones."""
    return tuple(SimulatedJob(name, cron, delay, behaviour) for name, cron, _, delay in registrations)


def jobs_of_file(
    jobs: Sequence[HostJob], timezone: str, behaviour: CallbackBehaviour
) -> tuple[tuple[SimulatedJob, ...], Literal["extended", "posix"]]:
    """Return the jobs of a file, each under its name and with its own identity, and the dialect that says them all.

    Those that have no times, as of @reboot, are left out.

    Timings that plain cron expressions can say are written as such: then the judge of the trace can check them itself.
    """
    timed = [(job.name, job.timing) for job in jobs if job.timing is not None]
    plain = [_posix(timing, timezone) for _, timing in timed]
    if all(plain):
        texts = [text for text in plain if text is not None]
        return tuple(
            SimulatedJob(name, text, behaviour=behaviour) for (name, _), text in zip(timed, texts, strict=True)
        ), "posix"
    return tuple(
        SimulatedJob(name, _line(timing, timezone), behaviour=behaviour, identity=timing.identity)
        for name, timing in timed
    ), "extended"


def _line(timing: Timing, timezone: str) -> str:
    """Return the schedule line; a zone that lines leave out is that of the scheduler, so theirs is always said."""
    line = timing.to_line()
    zone = timing.schedule.timezone
    return f"{line} @tz({zone})" if zone == "UTC" != timezone else line


def _posix(timing: Timing, timezone: str) -> str | None:
    """Return the same in the plain language that traces are written in, None if that cannot say it."""
    modifiers = timing.modifiers()
    if timing.schedule.timezone == timezone:
        modifiers = [each for each in modifiers if not each.startswith("@tz")]
    if modifiers or timing.schedule.timezone != timezone:
        return None
    text = _plain(timing.schedule.expression)
    return text if parse(text, POSIX).matches_either_day == timing.schedule.expression.matches_either_day else None


def _plain(expression: Expression) -> str:
    fields = (expression.minute, expression.hour, expression.day, expression.month, expression.weekday)
    return " ".join("*" if field.is_full else ",".join(str(value) for value in field) for field in fields)


class CallbackError(Exception):
    """What a failing callback raises."""


class CrashingLedger(FaultyLedger):
    """A ledger in whose appends the process may die, before or after they are durable, and whose disk may fail.

    Some appends take a turn of the event loop, others none, as drawn: what happens meanwhile is part of the story.
    """

    def __init__(self, chance: Random) -> None:
        self._memory = MemoryTaskLedger()
        super().__init__(self._memory)
        self._chance = chance
        self.is_dead = False
        self._appends_left: int | None = None
        self._is_durable_first = False

    def crash_on_append(self, appends: int, *, is_durable_first: bool) -> None:
        """Let the process die in one of the next appends."""
        self._appends_left, self._is_durable_first = appends, is_durable_first

    def restart(self) -> None:
        """Work again, as the next process finds it."""
        self.is_dead, self._appends_left = False, None

    async def append(self, batch: TaskBatch) -> Sequence[Refusal]:
        """Remember the batch, unless the disk fails or the process dies of it."""
        if self._chance.random() < _TURNS:
            await asyncio.sleep(0)  # noqa: TID251  # no time passes, others get a turn
        if self._appends_left is not None:
            self._appends_left -= 1
            if self._appends_left <= 0:
                self._die(batch)
        self.raise_next_failure()
        return self._memory.append_now(batch)

    def _die(self, batch: TaskBatch) -> None:
        if self._is_durable_first:
            self._memory.append_now(batch)
        self.is_dead = True
        raise asyncio.CancelledError


class SimulatedCallbacks:
    """Makes a callback for each job; what each run does is drawn when it begins."""

    def __init__(self, clock: VirtualClock, chance: Random) -> None:
        self._clock, self._chance = clock, chance
        self.runs = self.failures = 0

    def of(self, job: SimulatedJob) -> Callable[[], Awaitable[None]]:
        """Return the callback of a job."""
        return partial(self._live, job.behaviour)

    async def _live(self, behaviour: CallbackBehaviour) -> None:
        self.runs += 1
        draw = self._chance.random
        if draw() < behaviour.hanging:
            await self._clock.sleep(_HANG)
        elif draw() < behaviour.slow:
            await self._clock.sleep(_SHORT + draw() * behaviour.longest)
        if draw() < behaviour.failing:
            self.failures += 1
            raise CallbackError("drawn")
