"""FastClock: real time, six hundred times as fast, the same for all processes of a machine."""

import asyncio
import time
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta

from kron.engine.clock_watch import WakeUp
from kron.instant import SECOND, Instant

SPEED = 600  # ten minutes of schedules in a second


class FastClock:
    """A clock for `Scheduler(clock=…)` that showed `start` when the machine's monotonic clock showed `origin`."""

    max_sleep: timedelta | None = timedelta(minutes=1)

    def __init__(self, start: Instant, origin: float) -> None:
        self._start = start
        self._origin = origin

    def now(self) -> Instant:
        """Return the present by the wall clock."""
        return self._start + SECOND * (time.monotonic() - self._origin) * SPEED

    def monotonic(self) -> float:
        """Return seconds of a clock that is never set."""
        return time.monotonic() * SPEED

    async def wait_until(self, deadline: Instant | None, wake: WakeUp) -> None:
        """Return at the deadline or as soon as `wake` is set; in any case others get a turn."""
        if wake.is_set():
            await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
            return
        seconds = None if deadline is None else max(0.0, (deadline - self.now()) / SECOND / SPEED)
        try:
            async with asyncio.timeout(seconds):
                await wake.waiting()
        except TimeoutError:
            pass

    async def sleep(self, duration: timedelta) -> None:
        """Wait until so much time has passed."""
        await self.wait_until(self.now() + duration, WakeUp())

    def busy(self, *, watched: bool = False) -> AbstractContextManager[object]:  # noqa: ARG002
        """Return a context that means nothing here: real time passes anyway."""
        return nullcontext()

    def stood_still(self) -> timedelta:
        """Return nothing: it is not measured."""
        return timedelta()
