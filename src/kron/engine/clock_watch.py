"""ClockWatch, Delay: how late the loop is, and what the clocks did meanwhile: one was set, or the loop stood still."""

from asyncio import Future, get_running_loop
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from kron.instant import SECOND, ZERO, Instant
from kron.rules.outage import Freeze, LedgerWait, Plan, delay, freeze

if TYPE_CHECKING:
    from kron.engine.ports import Clock

_NOTEWORTHY = 1.0  # seconds: above what time servers correct at a stroke and what a busy machine is late
_CATCHING_UP = timedelta(seconds=10)  # is twice what a host may take for it: more, and it stood still again


class WakeUp:
    """Wakes the one loop that waits for it. Smaller and quicker than an event of asyncio."""

    __slots__ = ("_is_set", "_waiting")

    def __init__(self) -> None:
        self._is_set = False
        self._waiting: Future[None] | None = None

    def is_set(self) -> bool:
        """Whether there is news."""
        return self._is_set

    def set(self) -> None:
        """Say that there is."""
        self._is_set = True
        if self._waiting is not None:
            set_if_pending(self._waiting)

    def clear(self) -> None:
        """Say that it was looked at."""
        self._is_set = False

    def waiting(self) -> "Future[None]":
        """Return a future that is done as soon as there is news; a clock may finish it before."""
        self._waiting = get_running_loop().create_future()
        if self._is_set:
            self._waiting.set_result(None)
        return self._waiting


def set_if_pending(waiting: "Future[None]") -> None:
    """End a wait, if it has not ended yet."""
    if not waiting.done():
        waiting.set_result(None)


class ClockDeviation(NamedTuple):
    """How the clocks and the loop deviated from each other, up to an instant; what is not noteworthy is 0.0."""

    at: Instant
    jump: float = 0.0
    """Seconds that the wall clock was set ahead; below zero: back."""
    stall: float = 0.0
    """Seconds that the loop woke up late."""
    late: float = 0.0
    """Seconds that it woke up late, also if that is not noteworthy."""

    def __bool__(self) -> bool:
        """Whether there is anything to report."""
        return bool(self.jump or self.stall)


class ClockReading(NamedTuple):
    """The present, read once for a step, and what the clocks did since the step before."""

    now: Instant
    monotonic: float = 0.0
    jump: float = 0.0  # seconds that the wall clock was set ahead; below zero: back
    freeze: Freeze | None = None  # until now the host stood still


class ClockWatch:
    """Remembers the last reading of both clocks, and when the next one was asked for."""

    __slots__ = ("_asked", "_clock", "_is_heeded", "_monotonic", "_wall", "is_told", "leapt")

    def __init__(self, clock: "Clock") -> None:
        self._clock = clock
        self._wall, self._monotonic = clock.now(), clock.monotonic()
        self._asked: float | None = None
        self._is_heeded = True  # whether the engine was awake at the last reading
        self.is_told = False  # whether a deviation was returned since the loop was awake
        self.leapt = 0.0  # seconds that the wall clock was set ahead, by the last reading; below zero: back

    def expect(self, deadline: Instant | None) -> None:
        """Note that the engine goes to sleep until a deadline."""
        if deadline is not None:
            self._asked = self._clock.monotonic() + max(0.0, (deadline - self._clock.now()) / SECOND)

    def is_set_back(self, now: Instant) -> bool:
        """Whether the wall clock was set back since the last look, by a noteworthy amount."""
        return self._jumped(now, self._clock.monotonic()) <= -_NOTEWORTHY

    def read(self, now: Instant, *, is_awake: bool = True) -> ClockDeviation:
        """Return what the clocks did since the last look; without `is_awake` the deadline stays expected."""
        monotonic = self._clock.monotonic()
        jumped = self._jumped(now, monotonic)
        late = 0.0 if self._asked is None else max(0.0, monotonic - self._asked)
        jump = jumped if abs(jumped) >= _NOTEWORTHY else 0.0
        found = ClockDeviation(now, jump, late if late >= _NOTEWORTHY else 0.0, late)
        self.leapt = jump if self._is_heeded else self.leapt + jump
        self.is_told = bool(found) or (self.is_told and not self._is_heeded)
        self._wall, self._monotonic, self._is_heeded = now, monotonic, is_awake
        if is_awake or found.stall:
            self._asked = None
        return found

    def _jumped(self, now: Instant, monotonic: float) -> float:
        """Return by how many seconds the wall clock has gone on farther than the other one."""
        return (now - self._wall) / SECOND - (monotonic - self._monotonic)


class Delay:
    """The plan of one loop, and its waits for the ledger since the last step."""

    __slots__ = ("_clock", "_known", "_planned", "_taken", "_waits", "_woke")

    def __init__(self, clock: "Clock") -> None:
        self._clock = clock
        self._taken = clock.now()  # when the last step took up what was due
        self._planned: Instant | None = None
        self._waits: list[LedgerWait] = []
        self._woke: Instant | None = None  # when it did, if it had to catch up since then
        self._known = ZERO  # how late that was

    def plan(self, at: Instant | None) -> None:
        """Note when the loop is to wake up; None: when there is news."""
        self._planned = at

    def hasten(self, at: Instant) -> None:
        """Note that a step is wanted at an instant, if none is planned before it."""
        self._planned = at if self._planned is None else min(self._planned, at)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Surround a wait for the ledger."""
        began, still = self._clock.now(), self._clock.stood_still()
        try:
            with self._clock.busy(watched=True):
                yield
        finally:
            self._waits.append(LedgerWait(began, self._clock.now(), self._clock.stood_still() - still))

    def measure(self, now: Instant) -> timedelta:
        """Return how late a wake-up is, as far as it has not caught up with that."""
        return ZERO if self._planned is None else self._late(self._planned, now) - self._known

    def catch_up(self, woke: Instant) -> None:
        """Note that, since an instant, it has caught up with its delay, which is no delay as long as it is short."""
        now = self._clock.now()
        if self._planned is not None:
            self._known = self._late(self._planned, woke)
        self._waits.append(LedgerWait(woke, min(now, woke + _CATCHING_UP)))
        self._woke = woke if now <= woke + _CATCHING_UP else None

    def end(self, now: Instant, slack: timedelta) -> Freeze | None:
        """Take up what is due; return the freeze that has ended, if it was one."""
        found = None
        if self._planned is not None:
            plan, late = Plan(self._planned, self._taken), self._late(self._planned, now)
            found = freeze(plan, now if self._woke is None else self._woke, late, slack)
        self.take(now)
        return found

    def take(self, now: Instant) -> None:
        """Note that a step takes up what is due."""
        self._taken, self._planned, self._woke, self._known = now, None, None, ZERO
        self._waits.clear()

    def _late(self, planned: Instant, now: Instant) -> timedelta:
        return delay(Plan(planned, self._taken), now, self._waits)
