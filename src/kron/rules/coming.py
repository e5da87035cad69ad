"""Coming: the periods of a timing, one after the other, in the order in which they have to be handled.

A period is handled at its chosen time, one without a chosen time when its window begins: its effective time. Windows
may overlap, so that effective times need not come in the order of their nominal times.
"""

from datetime import datetime
from heapq import heappop, heappush

from kron.decision.decide import decide
from kron.decision.decision import Decision
from kron.decision.timing import Timing
from kron.errors import CronCalculationError, OutOfRangeError
from kron.instant import SECOND, Instant
from kron.rules.effort import PERIOD, Effort, work_of
from kron.rules.handled import NONE, Handled


def effective(decision: Decision) -> Instant:
    """Return when a period is handled if nothing comes in the way."""
    return decision.window_start if decision.chosen_time is None else decision.chosen_time


class Coming:
    """The periods whose effective time lies after an instant, but for those that are handled already.

    Only as many are decided as are needed to know which is the first: no later window may begin before it.
    """

    __slots__ = ("_ahead", "_handled", "_nominal", "_since", "_timing")

    def __init__(self, timing: Timing, since: Instant, handled: Handled = NONE) -> None:
        self._timing, self._since, self._handled = timing, since, handled.under(timing.schedule)
        self._ahead: list[tuple[Instant, Instant, Decision]] = []
        last = SECOND * timing.terms.last
        self._nominal = self._next(since - last if since - datetime.min.replace(tzinfo=since.tzinfo) > last else since)

    def first(self) -> Decision | None:
        """Return the first of them, None if the calendar ends before; that may take long where windows overlap."""
        while not self.is_known and self._nominal is not None:
            self._decide(self._nominal)
        return self._ahead[0][2] if self._ahead else None

    def peek(self) -> Decision | None:
        """Return the first of them if it is known already. Nothing is decided or changed: another thread may ask."""
        nominal, ahead = self._nominal, next(iter(self._ahead), None)
        if ahead is None or (nominal is not None and ahead[0] > nominal + self._timing.terms.start):
            return None
        return ahead[2]

    @property
    def is_known(self) -> bool:
        """Whether it is known which is the first, so that `first` does not have to decide anything."""
        if self._nominal is None:
            return True
        return bool(self._ahead) and self._ahead[0][0] <= self._nominal + self._timing.terms.start

    def advance(self, effort: Effort) -> bool:
        """Decide as far ahead as the effort allows; return whether the first is known then."""
        while not (known := self.is_known) and not effort.is_spent and self._nominal is not None:
            effort.left -= self._decide(self._nominal)
        return known

    def next_instant(self) -> Instant | None:
        """Return the effective time of the first."""
        return None if self.first() is None else self._ahead[0][0]

    def take(self, until: Instant) -> Decision | None:
        """Remove and return the first, if its effective time has come by then."""
        if self.first() is None or self._ahead[0][0] > until:
            return None
        return heappop(self._ahead)[2]

    def put_back(self, decision: Decision) -> None:
        """Let a period that was taken be to come again."""
        heappush(self._ahead, (effective(decision), decision.nominal_time, decision))

    def _decide(self, nominal: Instant) -> int:
        """Take the decision of one period, and return the work that it took."""
        self._nominal = self._next(nominal)
        try:
            decision = decide(self._timing, nominal)
        except OutOfRangeError:  # the calendar ends
            self._nominal = None
            return PERIOD
        if effective(decision) > self._since:
            self.put_back(decision)
        return work_of(decision)

    def _next(self, after: Instant) -> Instant | None:
        """Return the next nominal time that is not handled; a long span of those that are is not walked through."""
        try:
            nominal = self._timing.schedule.next(after)
            while (handled_until := self._handled.until(nominal)) is not None:
                nominal = self._timing.schedule.next(handled_until)
        except CronCalculationError:
            return None
        return nominal
