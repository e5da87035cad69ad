"""WakeUp, ClockWatch: the wait of the loop, and what the clocks did meanwhile: one was set, or the loop stood still."""

from asyncio import Future, get_running_loop
from typing import TYPE_CHECKING, NamedTuple

from kron.instant import SECOND, Instant
from kron.rules.outage import Freeze

if TYPE_CHECKING:
    from kron.engine.ports import Clock

_NOTEWORTHY = 1.0  # seconds: above what time servers correct at a stroke and what a busy machine is late


class WakeUp:
    """Set by whoever has news; one loop waits for it at a time. Smaller and quicker than an event of asyncio."""

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
        self._is_heeded = True  # whether whoever is awake has seen the last reading
        self.is_told = False  # whether an event was returned since the loop was awake
        self.leapt = 0.0  # seconds that the wall clock was set ahead, by the last reading; below zero: back

    def expect(self, deadline: Instant | None) -> None:
        """Note that the engine goes to sleep until a deadline."""
        if deadline is not None:
            self._asked = self._clock.monotonic() + max(0.0, (deadline - self._clock.now()) / SECOND)

    def is_set_back(self, now: Instant) -> bool:
        """Whether the wall clock was set back since the last look, by a noteworthy amount."""
        return self._jumped(now, self._clock.monotonic()) <= -_NOTEWORTHY

    def read(self, now: Instant, *, is_awake: bool = True) -> ClockDeviation:
        """Return what the clocks did since the last look; who is not awake goes on sleeping."""
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
