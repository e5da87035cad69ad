"""SystemClock: the host's clock, and waiting for it."""

import asyncio
import time
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta

from kron.adapters.system_now import system_now
from kron.engine.wake import Wake, finish
from kron.instant import SECOND, Instant


class SystemClock:
    """Wall and monotonic time of the host, and waiting on asyncio's loop."""

    longest_wait: timedelta | None = timedelta(minutes=1)  # a clock that is set is noticed within a minute

    def now(self) -> Instant:
        """Return the present by the wall clock."""
        return system_now()

    def monotonic(self) -> float:
        """Return seconds by a clock that nobody sets."""
        return time.monotonic()

    async def wait_until(self, deadline: Instant | None, wake: Wake) -> None:
        """Return at the deadline or as soon as `wake` is set; in any case others get a turn."""
        seconds = None if deadline is None else (deadline - self.now()) / SECOND
        if wake.is_set() or (seconds is not None and seconds <= 0):
            await asyncio.sleep(0)
            return
        waiting = wake.waiting()
        alarm = None if seconds is None else asyncio.get_running_loop().call_later(seconds, finish, waiting)
        try:
            await waiting
        finally:
            if alarm is not None:
                alarm.cancel()

    def working(self) -> AbstractContextManager[object]:
        """Return a context that means nothing here: real time passes anyway."""
        return nullcontext()
