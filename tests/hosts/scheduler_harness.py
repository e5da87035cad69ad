"""SchedulerHarness: a virtual clock, a ledger and the events of schedulers."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any

from kron import Scheduler
from kron.rules.events import Event
from kron.testing import MemoryTaskLedger, VirtualClock

START = datetime(2026, 3, 1, 11, 59, 30, tzinfo=UTC)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


class SchedulerHarness:
    """A clock and a ledger for schedulers, with their events and the starts of their tasks."""

    def __init__(self, start: datetime = START) -> None:
        self.clock = VirtualClock(start)
        self.ledger = MemoryTaskLedger()
        self.events: list[Event] = []
        self.starts: list[datetime] = []

    def scheduler(self, **keywords: Any) -> Scheduler:
        """Return a scheduler on this clock and ledger."""
        keywords = {"ledger": self.ledger, "timezone": "UTC", "sink": self.events.append, **keywords}
        return Scheduler(clock=self.clock, **keywords)

    def task(
        self,
        name: str = "task",
        cron: str = "0 * * * *",
        *,
        takes: timedelta = timedelta(),
        delay: timedelta = 5 * MINUTE,
        then: Callable[[], Awaitable[Any]] | None = None,
    ) -> tuple[Any, ...]:
        """Return a registration whose callback notes its start, takes its time, and then calls `then`."""

        async def callback() -> None:
            self.starts.append(self.clock.now())
            await self.clock.sleep(takes)
            if then is not None:
                await then()

        return (name, cron, callback, delay)

    def events_named(self, *names: str) -> list[Event]:
        """Return the events of these names, in their order."""
        return [event for event in self.events if event.name in names]


class SlowToOpen(MemoryTaskLedger):
    """A ledger whose disk takes its time."""

    def __init__(self) -> None:
        super().__init__()
        self.ready = asyncio.Event()

    async def open(self) -> None:
        await self.ready.wait()
        await super().open()


def run(body: Coroutine[Any, Any, None]) -> None:
    """Run the body of a test; one that hangs fails."""
    asyncio.run(asyncio.wait_for(body, 30))
