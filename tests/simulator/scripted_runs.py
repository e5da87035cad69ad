"""LIVES: scripted schedulers, for what the simulator does not do: invalid lists, unusual calls.

A life gets a ScriptedScheduler, whose trace records whatever happens in it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, TypeAlias

from kron.adapters.memory_ledger import MemoryTaskLedger
from kron.adapters.virtual_clock import VirtualClock
from kron.errors import KronError
from kron.hosts.library.scheduler import Scheduler, observe
from kron.simulator.simulation import VirtualLoop
from kron.theory.trace_format import TraceEvent
from kron.trace.recorder import TraceRecorder

_NOON = datetime(2026, 6, 1, 12, 0, 30, tzinfo=UTC)  # half a minute after it
_DELAY = timedelta(minutes=5)
_HALF_A_MINUTE = timedelta(seconds=30)
_QUARTER = timedelta(minutes=15)
_HOUR = timedelta(hours=1)

Registration: TypeAlias = tuple[Any, ...]


class ScriptedScheduler:
    """A scheduler with its clock and ledger, and calls that do not mind being refused."""

    def __init__(self, contract: str, take: Callable[[TraceEvent], object]) -> None:
        self.clock = VirtualClock(_NOON)
        self.scheduler = Scheduler(ledger=MemoryTaskLedger(), contract=contract, clock=self.clock, timezone="UTC")
        observe(self.scheduler, TraceRecorder(self.clock.now, take))

    async def initialize(self, *registrations: Registration, patience: timedelta = timedelta(minutes=3)) -> None:
        """Declare the tasks; while that takes time, let it pass."""
        await self.wait_for(self.scheduler.initialize(list(registrations)), patience)

    async def stop(self) -> None:
        """Stop, which may take as long as the longest run."""
        await self.wait_for(self.scheduler.stop())

    async def wait_for(self, call: Awaitable[object], patience: timedelta = 2 * _HOUR) -> None:
        """Let time pass until a call has returned, or for so long; nothing here waits for ever."""
        calling = asyncio.ensure_future(call)
        await self.clock.advance_until(self.clock.now() + patience, calling.done)
        if not calling.done():
            calling.cancel()
        with suppress(KronError, asyncio.CancelledError):
            await calling

    def task(self, name: str, cron: str, *, lasts: timedelta = timedelta(0), delay: timedelta = _DELAY) -> Registration:
        """Return a task that succeeds after a while."""

        async def callback() -> None:
            if lasts:
                await self.clock.sleep(lasts)

        return (name, cron, callback, delay)

    def failing_task(
        self, name: str, cron: str, *, lasts: timedelta = timedelta(0), delay: timedelta = _DELAY
    ) -> Registration:
        """Return a task that fails after a while."""

        async def callback() -> None:
            if lasts:
                await self.clock.sleep(lasts)
            raise ValueError(name)

        return (name, cron, callback, delay)


Life: TypeAlias = Callable[[ScriptedScheduler], Awaitable[None]]


async def wrong_lists(scripted: ScriptedScheduler) -> None:
    """Lists with something wrong, one after the other, each with half an hour to do harm in."""
    good, clock = scripted.task("good", "0,15,30,45 * * * *"), scripted.clock
    lists: tuple[list[Registration], ...] = (
        [good, scripted.task("good", "5 * * * *")],
        [good, scripted.task("often", "61 * * * *")],
        [good, scripted.task("", "5 * * * *")],
        [good, scripted.task("hasty", "5 * * * *", delay=-_DELAY)],
        [good, ("not async", "5 * * * *", lambda: None, _DELAY)],
    )
    for registrations in lists:
        await scripted.initialize(*registrations)
        await clock.advance(_QUARTER)
        await scripted.stop()
        await scripted.initialize(good)
        await clock.advance(_QUARTER)
        await scripted.initialize(*registrations)
        await clock.advance(2 * _QUARTER)
        await scripted.stop()


async def right_lists(scripted: ScriptedScheduler) -> None:
    """Lists that are unusual, and right."""
    lists: tuple[list[Registration], ...] = (
        [],
        [scripted.task("no delay", "5 * * * *", delay=timedelta(0))],
        [scripted.task("one", "5 * * * *"), scripted.task("same time", "5 * * * *")],
        [scripted.task("Müller", "5 * * * *", delay=timedelta(days=9999))],
    )
    for registrations in lists:
        await scripted.initialize(*registrations)
        await scripted.clock.advance(_HOUR)
        await scripted.stop()


async def first_minutes(scripted: ScriptedScheduler) -> None:
    """A task comes in the minute it is due, another one a minute late; one that never ran is owed after a pause."""
    clock = scripted.clock
    await scripted.initialize(scripted.task("in time", "0 * * * *"), scripted.task("too late", "59 * * * *"))
    await clock.advance(_QUARTER)
    await scripted.stop()
    later = (scripted.task("too early", "0,10 * * * *"), scripted.task("never ran", "40 * * * *"))
    await scripted.initialize(*later)
    await clock.advance(_QUARTER)
    await scripted.stop()
    await clock.advance(_HOUR)
    await scripted.initialize(*later)
    await clock.advance(2 * _QUARTER)
    await scripted.stop()


async def changed_lists(scripted: ScriptedScheduler) -> None:
    """Between two lists a schedule or a delay changes while a retry waits, and a task goes that will come back."""
    clock = scripted.clock
    lists: tuple[list[Registration], ...] = (
        [scripted.failing_task("fails", "0 * * * *"), scripted.task("goes", "0 * * * *")],
        [scripted.failing_task("fails", "0,45 * * * *")],
        [scripted.failing_task("fails", "0,45 * * * *", delay=2 * _QUARTER)],
        [scripted.failing_task("fails", "0,45 * * * *", delay=_DELAY), scripted.task("goes", "0 * * * *")],
    )
    for registrations in lists:
        await scripted.initialize(*registrations)
        await clock.advance(timedelta(minutes=47))
        await scripted.stop()


async def initialised_twice(scripted: ScriptedScheduler) -> None:
    """A list while one is active, another one while the scheduler stops, and the same one twice at once."""
    slow, quick = scripted.task("slow", "0 * * * *", lasts=_QUARTER), scripted.task("quick", "5 * * * *")
    await scripted.initialize(slow, patience=_HALF_A_MINUTE)
    await scripted.initialize(slow, quick)
    stopping = asyncio.ensure_future(scripted.scheduler.stop())
    await scripted.clock.advance(timedelta(minutes=1))
    await scripted.initialize(quick, patience=_HOUR)
    await scripted.wait_for(stopping)
    await scripted.stop()
    both = [scripted.scheduler.initialize([slow]) for _ in range(2)]
    await scripted.wait_for(asyncio.gather(*both, return_exceptions=True))
    await scripted.clock.advance(_HOUR)
    await scripted.stop()


async def stopped_at_the_last_moment(scripted: ScriptedScheduler) -> None:
    """A stop is asked for while the record of a start is on its way to the disk."""
    await scripted.initialize(scripted.task("slow", "5 * * * *", lasts=_QUARTER))

    async def stop() -> None:
        await scripted.clock.sleep(datetime(2026, 6, 1, 12, 5, tzinfo=UTC) - scripted.clock.now())
        await scripted.scheduler.stop()

    stopping = asyncio.ensure_future(stop())
    await scripted.wait_for(stopping)
    await scripted.initialize(scripted.task("slow", "5 * * * *"))
    await scripted.clock.advance(_QUARTER)
    await scripted.stop()


async def clock_set_forwards(scripted: ScriptedScheduler) -> None:
    """The clock is set forwards, by a little and by much, while tasks run and while none does."""
    await scripted.initialize(
        scripted.task("slow", "5,35 * * * *", lasts=_QUARTER), scripted.task("often", "* * * * *")
    )
    for change in (timedelta(seconds=59), _HOUR, timedelta(minutes=7), 30 * _HOUR):
        await scripted.clock.advance(_QUARTER - timedelta(minutes=2))
        scripted.clock.jump(change)
        await scripted.clock.advance(2 * _QUARTER)
    await scripted.stop()


async def clock_set_back(scripted: ScriptedScheduler) -> None:
    """The clock is set back by less than an hour while a task runs: it fails, and is retried before its time again."""
    await scripted.clock.advance(timedelta(minutes=1))
    await scripted.initialize(scripted.failing_task("fails", "0 * * * *", lasts=timedelta(minutes=40)))
    await scripted.clock.advance(_HOUR + _QUARTER)  # it has been running since 13:00
    scripted.clock.jump(-timedelta(minutes=50))
    await scripted.clock.advance(2 * _HOUR)
    await scripted.stop()


async def failure_far_ahead(scripted: ScriptedScheduler) -> None:
    """The clock is set back by an hour and a quarter: the last failure is far ahead of it, the start before it not."""
    await scripted.clock.advance(timedelta(minutes=1))
    await scripted.initialize(scripted.failing_task("fails", "0 * * * *", lasts=timedelta(minutes=50), delay=5 * _HOUR))
    await scripted.clock.advance(2 * _HOUR - timedelta(minutes=8))  # it began at 13:00, and it is 13:53
    scripted.clock.jump(-_HOUR - _QUARTER)
    await scripted.clock.advance(_HOUR)
    await scripted.stop()


LIVES: Mapping[str, Life] = MappingProxyType(
    {
        life.__name__.replace("_", " "): life
        for life in (
            wrong_lists,
            right_lists,
            first_minutes,
            changed_lists,
            initialised_twice,
            stopped_at_the_last_moment,
            clock_set_forwards,
            clock_set_back,
            failure_far_ahead,
        )
    }
)


def live(life: Life, contract: str, take: Callable[[TraceEvent], object]) -> None:
    """Live a life under a contract; each position of its trace is handed over as it comes."""

    async def lived() -> None:
        scripted = ScriptedScheduler(contract, take)
        await life(scripted)
        await scripted.clock.advance(2 * _HOUR)

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(lived())
