"""NextRun: the next period of a job that has a chosen second, searched in parts and remembered while periods pass."""

from kron.decision.decision import Decision
from kron.decision.timing import Timing
from kron.instant import Instant
from kron.rules.effort import PERIOD, Effort
from kron.rules.periods import HandledPeriods, PeriodQueue, effective_time

LOOKED_AHEAD = 1_000  # periods without a chosen second, before nothing is said about the next


class NextRun:
    """Looks through the periods from the first one that comes; what lies behind a thousand is beyond the look-ahead."""

    __slots__ = ("_coming", "_first", "_left", "_timing", "found")

    def __init__(self, timing: Timing, since: Instant, handled: HandledPeriods, first: Decision) -> None:
        """`first` is the first period that comes after `since` and is not handled."""
        self._timing, self._coming, self._first = timing, PeriodQueue(timing, since, handled), first
        self._left = LOOKED_AHEAD
        self.found: Decision | None = None

    @property
    def is_beyond(self) -> bool:
        """Whether all periods were looked at that may be, and none has a chosen second."""
        return self.found is None and self._left <= 0

    def advance(self, first: Decision, effort: Effort) -> bool:
        """Look on, now that `first` is the first that comes; return whether the answer is known.

        Where a period has passed since the last time, one more is looked at, and not all of them again.
        """
        if first.nominal_time > self._first.nominal_time:
            self._left += self._timing.schedule.count(self._first.nominal_time, first.nominal_time)
            self._first = first
        if self.found is not None and effective_time(self.found) < effective_time(first):
            self.found = None
        while self.found is None and self._left > 0:
            if effort.is_spent or not self._coming.advance(effort):
                return False
            at = self._coming.next_time()
            decision = None if at is None else self._coming.pop(at)
            if decision is None:  # the calendar ends
                self._left = 0
                break
            effort.left -= PERIOD
            if effective_time(decision) >= effective_time(first):
                self._left -= 1
                self.found = decision if decision.chosen_time is not None else None
        return True
