"""Delay: when the loop is to wake up next, and how late it was when it did, not counting waits for the ledger."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from kron.engine.ports import Clock
from kron.instant import ZERO, Instant
from kron.rules.outage import Freeze, LedgerWait, Plan, delay, freeze

_CATCHING_UP = timedelta(seconds=10)  # is twice what a host may take for it: more, and it stood still again


class Delay:
    """The plan of one loop, and its waits for the ledger since the last step."""

    __slots__ = ("_clock", "_known", "_planned", "_taken", "_waits", "_woke")

    def __init__(self, clock: Clock) -> None:
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
