"""ContractHarness: schedulers on virtual time under one contract, with their runs and events."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from errno import ENOSPC
from pathlib import Path
from typing import Any

from kron import Scheduler
from kron.instant import Instant, parse_instant
from kron.rules.contract import Contract
from kron.rules.events import Event
from kron.rules.task_record import TaskRecord
from kron.testing import FaultyLedger, MemoryTaskLedger, VirtualClock

Callback = Callable[[], Awaitable[None]]
RegistrationTuple = tuple[str, str, Callback, timedelta]
Registered = tuple[Any, ...] | list[Any]  # what a test may hand to a scheduler in the place of a registration

ALWAYS = 10**6
NOTHING = timedelta()
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


def disk_full() -> OSError:
    """Return the error of a disk without space."""
    return OSError(ENOSPC, "No space left on device")


def at(text: str) -> Instant:
    """Return the instant; a time of day alone is one of 2 March 2026, a Monday, in UTC."""
    if "T" in text:
        return parse_instant(text)
    return parse_instant(f"2026-03-02T{text}{':00Z' if text.count(':') == 1 else 'Z'}")


class BrokenError(Exception):
    """What a callback raises here when it fails."""


class ContractHarness:
    """A clock, a store that outlives its schedulers, and everything that was observed."""

    def __init__(self, contract: Contract, now: str = "10:07:30", *, timezone: str | None = "UTC") -> None:
        self.contract = contract
        self.timezone = timezone
        self.clock = VirtualClock(at(now))
        self.store = MemoryTaskLedger()
        self.disk = FaultyLedger(self.store)
        self.events: list[Event] = []
        self.began: list[tuple[str, Instant]] = []
        self.ended: list[tuple[str, Instant]] = []

    def task(
        self,
        name: str = "report",
        cron: str = "0 * * * *",
        *,
        retry: timedelta = 5 * MINUTE,
        takes: timedelta = NOTHING,
        fails: int = 0,
    ) -> RegistrationTuple:
        """Return a registration whose callback takes its time and whose first `fails` runs fail."""
        failures = iter(range(fails))

        async def callback() -> None:
            self.began.append((name, self.clock.now()))
            if takes:
                await self.clock.sleep(takes)
            self.ended.append((name, self.clock.now()))
            if next(failures, None) is not None:
                raise BrokenError(f"{name} is broken")

        return name, cron, callback, retry

    def scheduler(self, ledger: Path | None = None) -> Scheduler:
        """Return a new scheduler of this harness; with a path, one that keeps its records in a file."""
        return Scheduler(
            ledger=ledger or self.disk,
            contract=self.contract.name,
            clock=self.clock,
            sink=self.events.append,
            timezone=self.timezone,
        )

    async def start(self, *tasks: Registered) -> Scheduler:
        """Initialise a new scheduler and let everything happen that happens at once."""
        scheduler = self.scheduler()
        await scheduler.initialize(list(tasks))
        await self.settle()
        return scheduler

    async def settle(self) -> None:
        """Let everything happen that needs no time."""
        await self.clock.advance(NOTHING)

    async def until(self, time: str | datetime) -> None:
        """Let time pass until then."""
        await self.clock.advance_to(at(time) if isinstance(time, str) else time)

    def starts(self, name: str = "report") -> list[Instant]:
        """Return when the task began its runs."""
        return [moment for task, moment in self.began if task == name]

    def record(self, name: str = "report") -> TaskRecord:
        """Return what is stored of the task."""
        return self.store.records[name]

    def events_named(self, name: str) -> list[Event]:
        """Return the events of that name."""
        return [event for event in self.events if event.name == name]

    def event_names(self, *names: str) -> list[str]:
        """Return the names of all events that are among the given ones, in order."""
        return [event.name for event in self.events if event.name in names]


def times(*texts: str) -> list[Instant]:
    """Return the instants."""
    return [at(text) for text in texts]


def names_of(tasks: Sequence[tuple[str, Instant]]) -> list[str]:
    """Return the names in alphabetic order, because order of starts is not promised."""
    return sorted(name for name, _ in tasks)
