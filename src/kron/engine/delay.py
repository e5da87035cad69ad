"""Delay: when the loop is to wake up next, and how late it was when it did, not counting waits for the ledger."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from kron.engine.ports import Clock
from kron.instant import ZERO, Instant
from kron.rules.freeze import Freeze, LedgerWait, Plan, delay, freeze


class Delay:
    """The plan of one loop, and its waits for the ledger since the last step."""

    __slots__ = ("_clock", "_planned", "_taken", "_waits")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._taken = clock.now()  # when the last step took up what was due
        self._planned: Instant | None = None
        self._waits: list[LedgerWait] = []

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
            with self._clock.working():
                yield
        finally:
            self._waits.append(LedgerWait(began, self._clock.now(), self._clock.stood_still() - still))

    def measure(self, now: Instant, slack: timedelta) -> tuple[timedelta, Freeze | None]:
        """Return how late a wake-up is, and the freeze that it ends, if it is that late."""
        if self._planned is None:
            return ZERO, None
        plan = Plan(self._planned, self._taken)
        late = delay(plan, now, self._waits)
        return late, freeze(plan, now, late, slack)

    def take(self, now: Instant) -> None:
        """Note that a step takes up what is due."""
        self._taken, self._planned = now, None
        self._waits.clear()
