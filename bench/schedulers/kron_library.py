"""Kron's Scheduler on an SQLite file, or on the memory ledger."""

from asyncio import Event
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from importlib import import_module
from math import ceil
from pathlib import Path
from typing import Any

from bench.schedulers.scheduler import Due, Scheduler, Task

_HOUR = 3600.0


class ShiftedClock:
    """The real clock plus a constant, so that a minute begins whenever a measurement needs one.

    Time flows as it does outside. Only when a measurement asks for it, between two of its rounds, waits are cut short:
    while the engine has nothing to do but wait, wall and monotonic time leap together, as if it had waited.
    """

    def __init__(self, ahead: float = 0.0) -> None:
        self._real: Any = import_module("kron.adapters.system_clock").SystemClock()
        self.max_sleep: timedelta | None = self._real.max_sleep
        self._ahead = timedelta(seconds=ahead)
        self._wake: Any = None
        self._target: datetime | None = None
        self._reached = Event()

    @property
    def ahead(self) -> float:
        """By how many seconds it is ahead of the real clock."""
        return self._ahead.total_seconds()

    async def leap_to(self, target: datetime) -> None:
        """Return when it is that late by this clock, all waits until then cut out."""
        self._target, self._reached = target, Event()
        if self._wake:
            self._wake.set()
        await self._reached.wait()

    def now(self) -> datetime:
        """Return the present by this clock."""
        shown: datetime = self._real.now() + self._ahead
        return shown

    def monotonic(self) -> float:
        """Return seconds that leap with the wall clock, so that no leap is detected."""
        seconds: float = self._real.monotonic() + self.ahead
        return seconds

    async def wait_until(self, deadline: datetime | None, wake: Any, /) -> None:
        """Wait as the real clock does; if a leap was asked for, leap to the deadline, or to the target before it."""
        self._wake = wake
        if self._target is not None and not wake.is_set():
            goal = self._target if deadline is None else min(deadline, self._target)
            self._ahead += max(goal - self.now(), timedelta(0))
            if goal == self._target:
                self._target = None
                self._reached.set()
        await self._real.wait_until(None if deadline is None else deadline - self._ahead, wake)

    def busy(self, *, watched: bool = False) -> AbstractContextManager[object]:
        """Surround a wait for something other than time."""
        surrounding: AbstractContextManager[object] = self._real.busy(watched=watched)
        return surrounding


class KronSQLite(Scheduler):
    """Due instants are beginnings of minutes, here of hours: the clock is shifted until one is where it should be."""

    distribution, seconds_per_task, restarts = "kron-scheduler", 4e-5, True
    every = "0 * * * *"  # not `* * * * *`, which would be due in the minute of the start, too
    file = "kron.db"

    async def open(self, folder: Path) -> None:
        self.ledger = folder / self.file if self.file else None
        self.clock: ShiftedClock | None = None
        self.type: Any = import_module("kron").Scheduler

    def wall(self, due: Due) -> datetime:
        self.clock = ShiftedClock(-due.at % _HOUR)
        return datetime.fromtimestamp(due.at + self.clock.ahead, UTC)

    async def register(self, tasks: Sequence[Task], due: Due) -> None:  # noqa: ARG002  # its clock knows
        self.scheduler = self.type(ledger=self.ledger, clock=self.clock, timezone="UTC")
        self.observe()
        await self.scheduler.initialize(tasks)

    def observe(self) -> None:
        """Observe nothing; events go to logging, which is not asked to show them."""

    async def boundary(self, due: Due, *, ahead: float = 0.5) -> float:  # noqa: ARG002
        """Leap to shortly before the next hour, and return when that will be."""
        assert self.clock is not None, "`wall` comes first"
        hour = ceil((self.clock.now().timestamp() + ahead) / _HOUR) * _HOUR
        await self.clock.leap_to(datetime.fromtimestamp(hour - ahead, UTC))
        return hour - self.clock.ahead

    async def close(self) -> None:
        await self.scheduler.stop()


class KronMonitored(KronSQLite):
    """The same, judged while it runs; a violation is an error of the measurement."""

    def observe(self) -> None:
        recorder, monitor = import_module("kron.trace.recorder"), import_module("kron.trace.monitor")
        header = import_module("kron.theory.trace_format").TraceHeader("declarative", "UTC")
        assert self.clock is not None, "`wall` comes first"
        logging_sink = import_module("kron.adapters.sinks").LoggingSink()
        self.monitor = monitor.OnlineMonitor(header, logging_sink)
        take, take_runs = self.monitor.emit, self.monitor.emit_batch
        observer = recorder.TraceRecorder(self.clock.now, take, take_runs)
        import_module("kron.hosts.library.scheduler").observe(self.scheduler, observer)

    async def close(self) -> None:
        await super().close()
        report = self.monitor.report()
        if report.verdict.value != "holds" or report.positions < 1000:
            raise AssertionError(f"judged {report.positions} positions: {report.verdict.value}")


class KronMemory(KronSQLite):
    """The same, and nothing survives the process."""

    restarts, file = False, ""
