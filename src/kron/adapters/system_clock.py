"""SystemClock: the host's clock, and waiting for it."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta

from kron.adapters.system_time import system_now
from kron.engine.clock_watch import WakeUp, set_if_pending
from kron.instant import SECOND, ZERO, Instant

_BEAT = 1.0  # seconds between two signs of life while something other than time is waited for
_UNWATCHED = nullcontext()


class SystemClock:
    """Wall and monotonic time of the host, and waiting on asyncio's loop."""

    max_sleep: timedelta | None = timedelta(minutes=1)  # a clock that is set is noticed within a minute

    def __init__(self) -> None:
        self._stood_still = ZERO

    def now(self) -> Instant:
        """Return the present by the wall clock."""
        return system_now()

    def monotonic(self) -> float:
        """Return seconds by a clock that is never set."""
        return time.monotonic()

    async def wait_until(self, deadline: Instant | None, wake: WakeUp) -> None:
        """Return at the deadline or as soon as `wake` is set; in any case others get a turn."""
        seconds = None if deadline is None else (deadline - self.now()) / SECOND
        if wake.is_set() or (seconds is not None and seconds <= 0):
            await asyncio.sleep(0)
            return
        waiting = wake.waiting()
        alarm = None if seconds is None else asyncio.get_running_loop().call_later(seconds, set_if_pending, waiting)
        try:
            await waiting
        finally:
            if alarm is not None:
                alarm.cancel()

    def busy(self, *, watched: bool = False) -> AbstractContextManager[object]:
        """Return a context that, if it is watched, counts how long the process stands still; real time passes anyway.

        A heartbeat costs ten times what nothing costs, at each append: a planner without slack does without.
        """
        return _Heartbeat(self._count) if watched else _UNWATCHED

    def stood_still(self) -> timedelta:
        """Return for how long in all the event loop missed its signs of life in watched waits."""
        return self._stood_still

    def _count(self, seconds: float) -> None:
        self._stood_still += SECOND * seconds


class _Heartbeat:
    """Looks once a second whether the event loop runs: if it does not, a wait is not for the disk alone."""

    __slots__ = ("_alarm", "_count", "_due")

    def __init__(self, count: Callable[[float], object]) -> None:
        self._count = count

    def __enter__(self) -> None:
        self._set()

    def __exit__(self, *_: object) -> None:
        self._alarm.cancel()
        self._look()

    def _set(self) -> None:
        self._due = time.monotonic() + _BEAT
        self._alarm = asyncio.get_running_loop().call_later(_BEAT, self._beat)

    def _beat(self) -> None:
        self._look()
        self._set()

    def _look(self) -> None:
        late = time.monotonic() - self._due
        if late >= _BEAT:  # less is what a busy machine is late
            self._count(late)
