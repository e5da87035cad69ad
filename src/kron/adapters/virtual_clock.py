"""VirtualClock: time passes when a test advances it, and stops at each instant that a task waits for."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from heapq import heappop, heappush
from itertools import count
from typing import TypeAlias

from kron.engine.clock_watch import WakeUp, set_if_pending
from kron.instant import SECOND, ZERO, Instant, instant

_PATIENCE = 10_000  # turns of the event loop to wait for quiet: a callback that never rests does not hold a test up
_BLIND_TURNS = 200  # on an event loop that does not tell whether anything is ready

_Alarms: TypeAlias = list[tuple[datetime, int, "asyncio.Future[None]"]]
_ORIGIN = datetime(1, 1, 1)  # noqa: DTZ001 # what has elapsed is kept as a distance from here, so that one heap's form serves both


class VirtualClock:
    """A clock for `Scheduler(clock=…)` in tests. No real time passes, but for what a ledger's disk takes."""

    max_sleep: timedelta | None = None

    def __init__(self, start: datetime) -> None:
        self._wall = instant(start)
        self._elapsed = _ORIGIN
        self._monotonic = 0.0
        self._deadlines: _Alarms = []  # by the wall clock: a jump brings them closer or takes them away
        self._sleepers: _Alarms = []  # by elapsed time: a jump does not concern them
        self._order = count()
        self._work, self._works = _Work(self), 0
        self._resting: asyncio.Future[None] | None = None
        self._stood_still = ZERO

    # --- the port -----------------------------------------------------------------------------------------------------

    def now(self) -> Instant:
        """Return the present by the wall clock, which `advance` moves and `jump` sets."""
        return self._wall

    def monotonic(self) -> float:
        """Return the seconds that `advance` has let pass."""
        return self._monotonic

    async def wait_until(self, deadline: Instant | None, wake: WakeUp) -> None:
        """Return when time reaches the deadline, or as soon as `wake` is set; in any case others get a turn."""
        if wake.is_set() or (deadline is not None and deadline <= self._wall):
            await asyncio.sleep(0)
            return
        waiting = wake.waiting()
        if deadline is not None:
            heappush(self._deadlines, (deadline, next(self._order), waiting))
        await waiting

    def busy(self, *, watched: bool = False) -> AbstractContextManager[object]:  # noqa: ARG002  # all are
        """Surround a wait for something other than time: meanwhile the clock stands still, and real time passes."""
        return self._work

    def stood_still(self) -> timedelta:
        """Return how much of `freeze` fell into a wait for something other than time."""
        return self._stood_still

    # --- for tests ----------------------------------------------------------------------------------------------------

    async def advance(self, duration: timedelta) -> None:
        """Let time pass, from one awaited instant to the next, each until all is quiet. Zero: only settle."""
        await self._advance(duration, lambda: False)

    async def advance_to(self, at: datetime) -> None:
        """Let time pass until the wall clock shows an instant."""
        await self.advance(instant(at) - self._wall)

    async def advance_until(self, at: datetime, is_over: Callable[[], bool]) -> None:
        """Let time pass until the wall clock shows an instant, or it is over, which is asked whenever all is quiet."""
        await self._advance(max(ZERO, instant(at) - self._wall), is_over)

    def freeze(self, duration: timedelta) -> None:
        """Let time pass in which no task runs; a task that waited for an instant in it wakes up late."""
        self._elapse(duration)
        if self._works:
            self._stood_still += duration

    def delay(self, duration: timedelta) -> None:
        """Let time pass that a slow disk takes, called by a ledger in a test: the process is late, and did run."""
        self._elapse(duration)

    async def _advance(self, duration: timedelta, is_over: Callable[[], bool]) -> None:
        if duration < ZERO:
            raise ValueError("time does not run backwards; jump() sets the clock back")
        on_idle = getattr(asyncio.get_running_loop(), "on_idle", None)
        if on_idle is not None:  # a loop that says when nothing is ready need not be asked again and again
            await self._advance_when_idle(duration, is_over, on_idle)
            return
        await self._settle()
        while not is_over() and (step := self._next_step()) is not None and step <= duration:
            self._pass(step)
            duration -= step
            await self._settle()
        if not is_over():
            self._pass(duration)
            await self._settle()

    async def _advance_when_idle(
        self,
        duration: timedelta,
        is_over: Callable[[], bool],
        on_idle: Callable[[Callable[[], object] | None], object],
    ) -> None:
        arrived: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        end = self._elapsed + duration

        def go_on() -> None:
            if self._works:  # a task waits for something other than time: the loop looks again until that is there
                return
            left, step = max(ZERO, end - self._elapsed), self._next_step()  # a freeze may have passed it
            if is_over() or (not left and (step is None or step > ZERO)):
                set_if_pending(arrived)
            else:
                self._pass(left if step is None or left < step else step)

        on_idle(go_on)
        try:
            await arrived
        finally:
            on_idle(None)

    async def sleep(self, duration: timedelta) -> None:
        """Wait until so much time has passed: for callbacks that take time."""
        if duration <= ZERO:
            await asyncio.sleep(0)
            return
        alarm: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heappush(self._sleepers, (self._elapsed + duration, next(self._order), alarm))
        await alarm

    def jump(self, change: timedelta) -> None:
        """Set the wall clock, forwards or back, without time passing.

        Who waits for an instant wakes up if the clock was set back: a real clock is looked at every minute, too.
        """
        self._wall += change
        if change < ZERO:
            for _, _, waiting in self._deadlines:
                set_if_pending(waiting)

    def _next_step(self) -> timedelta | None:
        """Return how long it is until the next alarm, None if there is none."""
        deadline, alarm = _first(self._deadlines), _first(self._sleepers)
        left = None if deadline is None else deadline - self._wall
        if alarm is not None and (left is None or alarm - self._elapsed < left):
            left = alarm - self._elapsed
        return ZERO if left is not None and left < ZERO else left

    def _pass(self, duration: timedelta) -> None:
        """Move both clocks and wake the tasks whose instant has come."""
        self._elapse(duration)
        for alarms, now in ((self._deadlines, self._wall), (self._sleepers, self._elapsed)):
            while alarms and alarms[0][0] <= now:
                set_if_pending(heappop(alarms)[2])

    def _elapse(self, duration: timedelta) -> None:
        self._wall += duration
        self._elapsed += duration
        self._monotonic = (self._elapsed - _ORIGIN) / SECOND

    async def _settle(self) -> None:
        """Give all tasks turns until none is ready to run and no ledger is at work."""
        loop = asyncio.get_running_loop()
        ready = getattr(loop, "_ready", None)  # private to asyncio's own loop; others get a fixed number of turns
        for turn in range(_PATIENCE):
            await asyncio.sleep(0)
            if self._works:
                self._resting = loop.create_future()
                await self._resting
            elif (ready is not None and not ready) or (ready is None and turn >= _BLIND_TURNS):
                return


def _first(alarms: _Alarms) -> datetime | None:
    """Return the first instant that is still waited for."""
    while alarms:
        at, _, alarm = alarms[0]
        if not alarm.done():
            return at
        heappop(alarms)
    return None


class _Work:
    """The waits for something other than time."""

    __slots__ = ("_clock",)

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock

    def __enter__(self) -> None:
        self._clock._works += 1

    def __exit__(self, *_: object) -> None:
        clock = self._clock
        clock._works -= 1
        if not clock._works and clock._resting is not None:
            set_if_pending(clock._resting)
