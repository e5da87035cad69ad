"""DueInstants: a schedule or a timing -> when a task is due, found by deciding one period after the other.

The scheduler finds them in its own way (rules/due.py); a trace that named what that way finds could not tell that it
finds too few.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from kron.cron.schedule import Schedule
from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.errors import CronCalculationError, OutOfRangeError
from kron.instant import MICROSECOND, SECOND, Instant

Milliseconds: TypeAlias = int  # since the epoch, as traces count

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_DRAWS = 200_000  # that a search back may take in vain: so far back the scheduler itself does not look


class DueInstants:
    """Those of one task. Windows may overlap, so due instants need not come in the order of periods."""

    __slots__ = ("_first", "_last", "_schedule", "_timing")

    def __init__(self, found: Schedule | Timing) -> None:
        self._timing = found if isinstance(found, Timing) else None
        self._schedule = found.schedule if isinstance(found, Timing) else found
        first, last = found.window.bounds if isinstance(found, Timing) else (0, 0)
        self._first, self._last = SECOND * first, SECOND * last

    def since(self, after: Milliseconds) -> Iterator[tuple[Milliseconds, Milliseconds | None]]:
        """Yield, for each period that can be due after an instant, when its window opens and when it is due."""
        try:
            nominal = self._schedule.next(instant_of(after) - self._last)
            while True:
                yield milliseconds_of(nominal + self._first), self._due(nominal)[0]
                nominal = self._schedule.next(nominal)
        except (CronCalculationError, OverflowError):  # the calendar ends
            return

    def latest(self, at: Milliseconds, since: Milliseconds) -> Milliseconds | None:
        """Return the last due instant at or before, None if there is none since then."""
        best, draws = None, _DRAWS
        try:
            nominal = self._schedule.previous(instant_of(at) - self._first)
            oldest = milliseconds_of(nominal + self._last)
            while oldest >= (since if best is None else best) and (draws > 0 or best is not None):
                due, cost = self._due(nominal)
                if due is not None and since <= due <= at and (best is None or due > best):
                    best = due
                draws -= cost
                nominal = self._schedule.previous(nominal - MICROSECOND)
                oldest = milliseconds_of(nominal + self._last)
        except (CronCalculationError, OverflowError):  # the calendar begins
            return best
        return best

    def _due(self, nominal: Instant) -> tuple[Milliseconds | None, int]:
        """Return when a period is due, if ever, and how many draws that took."""
        if self._timing is None:
            return milliseconds_of(nominal), 1
        try:
            decision = decide(self._timing, nominal)
        except OutOfRangeError:
            return None, 1
        chosen = decision.chosen_time
        return None if chosen is None else milliseconds_of(chosen), max(1, decision.attempts)


def milliseconds_of(at: Instant) -> Milliseconds:
    """Return an instant as traces have it."""
    return (at - _EPOCH) // _MILLISECOND


def instant_of(t: Milliseconds) -> Instant:
    """Return the instant that a trace names."""
    return _EPOCH + timedelta(milliseconds=t)
