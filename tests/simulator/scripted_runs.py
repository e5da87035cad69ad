"""LIVES: short lives of a scheduler, each written down, for what the simulator does not do: wrong lists, awkward calls.

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


async def wrong_lists(world: ScriptedScheduler) -> None:
    """Lists with something wrong, one after the other, each with half an hour to do harm in."""
    good, clock = world.task("good", "0,15,30,45 * * * *"), world.clock
    lists: tuple[list[Registration], ...] = (
        [good, world.task("good", "5 * * * *")],
        [good, world.task("often", "61 * * * *")],
        [good, world.task("", "5 * * * *")],
        [good, world.task("hasty", "5 * * * *", delay=-_DELAY)],
        [good, ("not async", "5 * * * *", lambda: None, _DELAY)],
    )
    for registrations in lists:
        await world.initialize(*registrations)
        await clock.advance(_QUARTER)
        await world.stop()
        await world.initialize(good)
        await clock.advance(_QUARTER)
        await world.initialize(*registrations)
        await clock.advance(2 * _QUARTER)
        await world.stop()


async def right_lists(world: ScriptedScheduler) -> None:
    """Lists that are unusual, and right."""
    lists: tuple[list[Registration], ...] = (
        [],
        [world.task("no delay", "5 * * * *", delay=timedelta(0))],
        [world.task("one", "5 * * * *"), world.task("same time", "5 * * * *")],
        [world.task("Müller", "5 * * * *", delay=timedelta(days=9999))],
    )
    for registrations in lists:
        await world.initialize(*registrations)
        await world.clock.advance(_HOUR)
        await world.stop()


async def first_minutes(world: ScriptedScheduler) -> None:
    """A task comes in the minute it is due, another one a minute late; one that never ran is owed after a pause."""
    clock = world.clock
    await world.initialize(world.task("in time", "0 * * * *"), world.task("too late", "59 * * * *"))
    await clock.advance(_QUARTER)
    await world.stop()
    later = (world.task("too early", "0,10 * * * *"), world.task("never ran", "40 * * * *"))
    await world.initialize(*later)
    await clock.advance(_QUARTER)
    await world.stop()
    await clock.advance(_HOUR)
    await world.initialize(*later)
    await clock.advance(2 * _QUARTER)
    await world.stop()


async def changed_lists(world: ScriptedScheduler) -> None:
    """Between two lists a schedule or a delay changes while a retry waits, and a task goes that will come back."""
    clock = world.clock
    lists: tuple[list[Registration], ...] = (
        [world.failing_task("fails", "0 * * * *"), world.task("goes", "0 * * * *")],
        [world.failing_task("fails", "0,45 * * * *")],
        [world.failing_task("fails", "0,45 * * * *", delay=2 * _QUARTER)],
        [world.failing_task("fails", "0,45 * * * *", delay=_DELAY), world.task("goes", "0 * * * *")],
    )
    for registrations in lists:
        await world.initialize(*registrations)
        await clock.advance(timedelta(minutes=47))
        await world.stop()


async def initialised_twice(world: ScriptedScheduler) -> None:
    """A list while one is active, another one while the scheduler stops, and the same one twice at once."""
    slow, quick = world.task("slow", "0 * * * *", lasts=_QUARTER), world.task("quick", "5 * * * *")
    await world.initialize(slow, patience=_HALF_A_MINUTE)
    await world.initialize(slow, quick)
    stopping = asyncio.ensure_future(world.scheduler.stop())
    await world.clock.advance(timedelta(minutes=1))
    await world.initialize(quick, patience=_HOUR)
    await world.wait_for(stopping)
    await world.stop()
    both = [world.scheduler.initialize([slow]) for _ in range(2)]
    await world.wait_for(asyncio.gather(*both, return_exceptions=True))
    await world.clock.advance(_HOUR)
    await world.stop()


async def stopped_at_the_last_moment(world: ScriptedScheduler) -> None:
    """A stop is asked for while the record of a start is on its way to the disk."""
    await world.initialize(world.task("slow", "5 * * * *", lasts=_QUARTER))

    async def stop() -> None:
        await world.clock.sleep(datetime(2026, 6, 1, 12, 5, tzinfo=UTC) - world.clock.now())
        await world.scheduler.stop()

    stopping = asyncio.ensure_future(stop())
    await world.wait_for(stopping)
    await world.initialize(world.task("slow", "5 * * * *"))
    await world.clock.advance(_QUARTER)
    await world.stop()


async def clock_set_forwards(world: ScriptedScheduler) -> None:
    """The clock is set forwards, by a little and by much, while tasks run and while none does."""
    await world.initialize(world.task("slow", "5,35 * * * *", lasts=_QUARTER), world.task("often", "* * * * *"))
    for change in (timedelta(seconds=59), _HOUR, timedelta(minutes=7), 30 * _HOUR):
        await world.clock.advance(_QUARTER - timedelta(minutes=2))
        world.clock.jump(change)
        await world.clock.advance(2 * _QUARTER)
    await world.stop()


async def clock_set_back(world: ScriptedScheduler) -> None:
    """The clock is set back by less than an hour while a task runs: it fails, and is retried before its time again."""
    await world.clock.advance(timedelta(minutes=1))
    await world.initialize(world.failing_task("fails", "0 * * * *", lasts=timedelta(minutes=40)))
    await world.clock.advance(_HOUR + _QUARTER)  # it has been running since 13:00
    world.clock.jump(-timedelta(minutes=50))
    await world.clock.advance(2 * _HOUR)
    await world.stop()


async def failure_far_ahead(world: ScriptedScheduler) -> None:
    """The clock is set back by an hour and a quarter: the last failure is far ahead of it, the start before it not."""
    await world.clock.advance(timedelta(minutes=1))
    await world.initialize(world.failing_task("fails", "0 * * * *", lasts=timedelta(minutes=50), delay=5 * _HOUR))
    await world.clock.advance(2 * _HOUR - timedelta(minutes=8))  # it began at 13:00, and it is 13:53
    world.clock.jump(-_HOUR - _QUARTER)
    await world.clock.advance(_HOUR)
    await world.stop()


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
        world = ScriptedScheduler(contract, take)
        await life(world)
        await world.clock.advance(2 * _HOUR)

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(lived())
