"""WakeUp, ClockWatch: the wait of the loop, and what the clocks did meanwhile: one was set, or the loop stood still."""

from asyncio import Future, get_running_loop
from typing import TYPE_CHECKING

from kron.instant import SECOND, Instant
from kron.rules.events import Event, make_event

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

    def read(self, now: Instant, *, is_awake: bool = True) -> list[Event]:
        """Return what is noteworthy about the time since the last look; who is not awake goes on sleeping."""
        found: list[Event] = []
        monotonic = self._clock.monotonic()
        jumped = self._jumped(now, monotonic)
        leap = jumped if abs(jumped) >= _NOTEWORTHY else 0.0
        late = 0.0 if self._asked is None else monotonic - self._asked
        if leap:
            found.append(make_event("ClockJumped", None, now, jumped + max(0.0, late), seconds=round(jumped, 3)))
        if late >= _NOTEWORTHY:
            found.append(make_event("LoopFrozen", seconds=round(late, 3)))
        self.leapt = leap if self._is_heeded else self.leapt + leap
        self.is_told = bool(found) or (self.is_told and not self._is_heeded)
        self._wall, self._monotonic, self._is_heeded = now, monotonic, is_awake
        if is_awake or late >= _NOTEWORTHY:
            self._asked = None
        return found

    def _jumped(self, now: Instant, monotonic: float) -> float:
        """Return by how many seconds the wall clock has gone on farther than the other one."""
        return (now - self._wall) / SECOND - (monotonic - self._monotonic)
