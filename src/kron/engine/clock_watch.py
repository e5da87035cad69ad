"""ClockWatch: compares wall with monotonic time at each wake-up; reports a clock that was set and a frozen loop."""

from kron.engine.ports import Clock
from kron.instant import SECOND, Instant
from kron.rules.events import Event, make_event

_NOTEWORTHY = 1.0  # seconds: above what time servers correct at a stroke and what a busy machine is late


class ClockWatch:
    """Remembers the last reading of both clocks, and when the next one was asked for."""

    __slots__ = ("_asked", "_clock", "_is_heeded", "_monotonic", "_wall", "is_told", "leapt")

    def __init__(self, clock: Clock) -> None:
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
